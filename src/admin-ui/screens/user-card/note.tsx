/** What admins write down about a user. */
import { api, ok } from '#src/admin-ui/api.ts'
import { TextArea } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate } from '#src/admin-ui/query.ts'
import { cardTexts, type ListedUser } from './texts.ts'

export function NoteForm({ row }: { row: ListedUser }) {
  const t = cardTexts()
  const form = useForm({
    initial: { note: row.note ?? '' },
    send: ({ note }) =>
      ok(
        api.users[':tg_id'].$patch({
          param: { tg_id: String(row.tg_id) },
          json: { note: note.trim() === '' ? null : note },
        }),
      ),
    done: () => {
      toast(t.noteSaved)
      invalidate('user ', 'users')
    },
  })
  return (
    <section aria-label={t.note}>
      <FormBox form={form}>
        <TextArea label={t.note} hint={t.noteHint} rows={3} {...form.field('note')} />
      </FormBox>
    </section>
  )
}
