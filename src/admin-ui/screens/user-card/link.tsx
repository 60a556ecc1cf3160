/** The link of a user: to copy, to scan, to replace. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { boot } from '#src/admin-ui/boot.ts'
import { userName } from '#src/admin-ui/format.ts'
import { Button, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { CopyLine } from '#src/admin-ui/kit/copy-line.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { QrCode } from '#src/admin-ui/kit/qr.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { useAction } from '#src/admin-ui/query.ts'
import { accessChanged } from '#src/admin-ui/screens/access/subscription.ts'
import { type CardUser, cardTexts } from './texts.ts'

export function Link({ user }: { user: CardUser }) {
  const t = cardTexts()
  const [shown, setShown] = useState(false)
  const link = `${boot.subUrlBase}${user.token}`
  const rotate = useAction(async () => {
    const title = t.rotateTitle(userName(user))
    if (!(await confirm({ title, text: t.rotateText, action: t.rotate, danger: true }))) return
    await ok(api.users[':tg_id']['rotate-token'].$post({ param: { tg_id: String(user.tg_id) } }))
    toast(t.rotated)
    accessChanged()
  })
  return (
    <section aria-label={t.link}>
      <CopyLine label={t.link} text={link} />
      <p class="hint">{t.linkText}</p>
      <div class="row">
        <Button small icon="qr" onClick={() => setShown(!shown)}>
          {shown ? t.hideQr : t.showQr}
        </Button>
        <LinkButton small href={link} external icon="external">
          {t.openPage}
        </LinkButton>
        <Button small icon="refresh" busy={rotate.busy} onClick={rotate.run}>
          {t.rotate}
        </Button>
      </div>
      {shown && <QrCode text={link} label={t.link} />}
    </section>
  )
}
