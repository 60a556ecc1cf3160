/** Makes a customer, who need not be on Telegram. */
import { api, ok } from '#src/admin-ui/api.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { TextArea } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { BETWEEN_TAGS, ProfileFields, tagsOf, telegramIdOf } from '../access/profile-fields.tsx'
import { usersTexts } from './texts.ts'

export function NewCustomerDialog(p: { close: () => void; done: (tgId: number) => void }) {
  const t = usersTexts()
  const form = useForm({
    initial: { name: '', email: '', tags: '', telegram_id: '', note: '' },
    between: BETWEEN_TAGS,
    once: true,
    send: ({ name, email, tags, telegram_id, note }) =>
      ok(
        api.users.$post({
          json: {
            ...(name.trim() && { name }),
            ...(email.trim() && { email }),
            ...(tags.trim() && { tags: tagsOf(tags) }),
            ...(telegram_id.trim() && { telegram_id: telegramIdOf(telegram_id) }),
            ...(note.trim() && { note }),
          },
        }),
      ),
    done: ({ tg_id }) => {
      toast(t.created)
      invalidate('users', 'stats')
      p.close()
      p.done(tg_id)
    },
  })
  return (
    <Dialog title={t.newCustomer} onClose={p.close}>
      <FormBox
        form={form}
        action={t.create}
        always
        extra={<Button onClick={p.close}>{common().cancel}</Button>}
      >
        <p class="t2">{t.newCustomerText}</p>
        <ProfileFields field={form.field} withTelegram />
        <TextArea label={t.note} rows={2} {...form.field('note')} />
      </FormBox>
    </Dialog>
  )
}
