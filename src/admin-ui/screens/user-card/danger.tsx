/** Ban and deletion of a user. */
import { api, ok } from '#src/admin-ui/api.ts'
import { userName } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction } from '#src/admin-ui/query.ts'
import { accessChanged } from '#src/admin-ui/screens/access/subscription.ts'
import { cardTexts, type ListedUser } from './texts.ts'

const one = api.users[':tg_id']

export function Danger({ row, close }: { row: ListedUser; close: () => void }) {
  const t = cardTexts()
  const name = userName(row)
  const param = { tg_id: String(row.tg_id) }
  const banned = row.banned_at !== null
  const ban = useAction(async () => {
    const asked = { title: t.banTitle(name), text: t.banText, action: t.ban, danger: true }
    if (!banned && !(await confirm(asked))) return
    await ok(one.$patch({ param, json: { banned: !banned } }))
    toast(banned ? t.unbanned : t.banned)
    accessChanged()
  })
  const remove = useAction(async () => {
    const asked = { title: t.removeTitle(name), text: t.removeText, action: t.remove, danger: true }
    if (!(await confirm({ ...asked, type: name }))) return
    await ok(one.$delete({ param }))
    toast(t.removed(name))
    close()
    invalidate('users', 'subscriptions', 'payments', 'stats')
  })
  return (
    <section aria-label={t.danger}>
      <h3>{t.danger}</h3>
      <div class="row">
        <Button small icon="ban" busy={ban.busy} onClick={ban.run}>
          {banned ? t.unban : t.ban}
        </Button>
        <Button small kind="danger" icon="trash" busy={remove.busy} onClick={remove.run}>
          {t.remove}
        </Button>
      </div>
    </section>
  )
}
