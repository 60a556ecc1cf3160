/** The second factor of whoever is logged in: set up with a QR code, switched on by a code, off by the password. */
import { useState } from 'preact/hooks'
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { Badge } from '#src/admin-ui/kit/badge.tsx'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { CopyLine } from '#src/admin-ui/kit/copy-line.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { SecretField, TextField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card } from '#src/admin-ui/kit/page.tsx'
import { QrCode } from '#src/admin-ui/kit/qr.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { accountTexts } from '#src/admin-ui/screens/accounts-texts.ts'
import { common } from '#src/admin-ui/texts.ts'

type Setup = Answer<(typeof api)['2fa']['setup']['$post']>

function finish(text: string, close: () => void): void {
  toast(text)
  invalidate('2fa', 'admins')
  close()
}

function Enable({ setup, close }: { setup: Setup; close: () => void }) {
  const t = accountTexts().security
  const form = useForm({
    initial: { code: '' },
    send: ({ code }) => ok(api['2fa'].enable.$post({ json: { secret: setup.secret, code } })),
    done: () => finish(t.enabled, close),
  })
  return (
    <Dialog title={t.twoFactor} onClose={close}>
      <FormBox form={form} action={t.enable}>
        <p class="t2">{t.scan}</p>
        <QrCode text={setup.uri} label={t.qr} />
        <CopyLine label={t.secret} text={setup.secret} />
        <TextField
          label={t.code}
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={6}
          focus
          {...form.field('code')}
        />
      </FormBox>
    </Dialog>
  )
}

function Disable({ close }: { close: () => void }) {
  const t = accountTexts().security
  const form = useForm({
    initial: { password: '' },
    send: (json) => ok(api['2fa'].disable.$post({ json })),
    done: () => finish(t.disabled, close),
  })
  return (
    <Dialog title={t.twoFactor} onClose={close}>
      <FormBox
        form={form}
        action={t.disable}
        danger
        extra={<Button onClick={close}>{common().cancel}</Button>}
      >
        <p class="t2">{t.disableText}</p>
        <SecretField
          label={t.current}
          autoComplete="current-password"
          focus
          {...form.field('password')}
        />
      </FormBox>
    </Dialog>
  )
}

export function TwoFactor() {
  const t = accountTexts().security
  const status = useQuery('2fa', () => ok(api['2fa'].status.$get()))
  const [open, setOpen] = useState<Setup | 'disable' | null>(null)
  const setUp = useAction(async () => setOpen(await ok(api['2fa'].setup.$post())))
  const close = () => setOpen(null)
  return (
    <Card title={t.twoFactor} sub={t.twoFactorSub}>
      <Loaded query={status} lines={1}>
        {({ enabled }) => (
          <div class="row between">
            <Badge tone={enabled ? 'ok' : 'muted'}>{enabled ? common().on : common().off}</Badge>
            {enabled ? (
              <Button onClick={() => setOpen('disable')}>{t.disable}</Button>
            ) : (
              <Button kind="primary" icon="lock" busy={setUp.busy} onClick={setUp.run}>
                {t.setUp}
              </Button>
            )}
          </div>
        )}
      </Loaded>
      {open === 'disable' && <Disable close={close} />}
      {open !== null && open !== 'disable' && <Enable setup={open} close={close} />}
    </Card>
  )
}
