/** Who a customer is: name, e-mail address, tags, Telegram id. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { userName } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Facts } from '#src/admin-ui/kit/page.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { href } from '#src/admin-ui/router.ts'
import {
  BETWEEN_TAGS,
  ProfileFields,
  tagsOf,
  telegramIdOf,
} from '#src/admin-ui/screens/access/profile-fields.tsx'
import { accessChanged } from '#src/admin-ui/screens/access/subscription.ts'
import { access } from '#src/admin-ui/screens/access/texts.ts'
import { common } from '#src/admin-ui/texts.ts'
import { type CardUser, cardTexts } from './texts.ts'

/** The Telegram id of a customer; the API leaves it out where there is nothing more to say of them. */
const telegramIdOfUser = ({ tg_id, telegram_id }: CardUser) =>
  telegram_id === undefined ? tg_id : telegram_id

const orNull = (text: string) => (text.trim() === '' ? null : text)

function EditDialog({ user, close }: { user: CardUser; close: () => void }) {
  const t = cardTexts()
  const form = useForm({
    initial: {
      name: user.name ?? '',
      email: user.email ?? '',
      tags: user.tags?.join(', ') ?? '',
      telegram_id: String(telegramIdOfUser(user) ?? ''),
    },
    between: BETWEEN_TAGS,
    send: (_values, { name, email, tags, telegram_id }) =>
      ok(
        api.users[':tg_id'].$patch({
          param: { tg_id: String(user.tg_id) },
          json: {
            ...(name !== undefined && { name: orNull(name) }),
            ...(email !== undefined && { email: orNull(email) }),
            ...(tags !== undefined && { tags: tagsOf(tags) }),
            ...(telegram_id !== undefined && {
              telegram_id: telegram_id.trim() === '' ? null : telegramIdOf(telegram_id),
            }),
          },
        }),
      ),
    done: () => {
      toast(common().saved)
      accessChanged()
      close()
    },
  })
  return (
    <Dialog title={t.profileOf(userName(user))} onClose={close}>
      <FormBox form={form} extra={<Button onClick={close}>{common().cancel}</Button>}>
        <ProfileFields field={form.field} withTelegram={user.tg_id < 0} />
      </FormBox>
    </Dialog>
  )
}

export function Profile({ user }: { user: CardUser }) {
  const t = cardTexts()
  const words = access().profile
  const [editing, setEditing] = useState(false)
  const { name, email, tags = [] } = user
  const tagged = tags.map((tag) => (
    <a key={tag} class="badge muted tag" href={href('/users', { tag })}>
      {tag}
    </a>
  ))
  return (
    <section aria-label={t.profile}>
      <div class="row between">
        <h3>{t.profile}</h3>
        <Button small icon="edit" onClick={() => setEditing(true)}>
          {t.edit}
        </Button>
      </div>
      <Facts
        list={[
          name ? [words.name, name] : null,
          email ? [words.email, email] : null,
          tags.length > 0 ? [words.tags, <span class="row">{tagged}</span>] : null,
          [access().tgId, telegramIdOfUser(user) ?? t.noTelegram],
        ]}
      />
      {editing && <EditDialog user={user} close={() => setEditing(false)} />}
    </section>
  )
}
