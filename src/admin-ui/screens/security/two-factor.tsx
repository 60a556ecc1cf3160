/** The second factor of whoever is logged in: set up with a QR code, switched on by a code, off by the password. */
import { useState } from 'preact/hooks'
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { Badge } from '#src/admin-ui/kit/badge.tsx'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { CopyLine } from '#src/admin-ui/kit/copy-line.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { AppCodeField, OwnPasswordField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card } from '#src/admin-ui/kit/page.tsx'
import { QrCode } from '#src/admin-ui/kit/qr.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { accountTexts } from '#src/admin-ui/screens/security/texts.ts'
import { common } from '#src/admin-ui/texts.ts'
import { CodesLeft, MakeCodes } from './recovery-codes.tsx'

type Setup = Answer<(typeof api)['2fa']['setup']['$post']>

function finish(text: string, close: () => void): void {
  toast(text)
  invalidate('2fa', 'admins')
  close()
}

function Enable(p: { setup: Setup; close: () => void; done: () => void }) {
  const { setup, close } = p
  const t = accountTexts().security
  const form = useForm({
    initial: { code: '' },
    send: ({ code }) => ok(api['2fa'].enable.$post({ json: { secret: setup.secret, code } })),
    done: () => finish(t.enabled, p.done),
  })
  return (
    <Dialog title={t.twoFactor} onClose={close}>
      <FormBox form={form} action={t.enable}>
        <p class="t2">{t.scan}</p>
        <QrCode text={setup.uri} label={t.qr} />
        <CopyLine label={t.secret} text={setup.secret} />
        <AppCodeField label={t.code} {...form.field('code')} />
      </FormBox>
    </Dialog>
  )
}

function Disable({ close }: { close: () => void }) {
  const t = accountTexts().security
  const rule = useQuery('security rule', () => ok(api.settings.security.$get()))
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
        <p class="t2">{rule.data?.require_2fa ? t.disableRequired : t.disableText}</p>
        <OwnPasswordField label={t.current} {...form.field('password')} />
      </FormBox>
    </Dialog>
  )
}

/** `onDone`: it is on, and the recovery codes were shown. */
export function TwoFactor({ onDone }: { onDone?: () => void }) {
  const t = accountTexts().security
  const status = useQuery('2fa', () => ok(api['2fa'].status.$get()))
  const [open, setOpen] = useState<Setup | 'disable' | 'codes' | null>(null)
  const setUp = useAction(async () => setOpen(await ok(api['2fa'].setup.$post())))
  const close = () => setOpen(null)
  return (
    <Card title={t.twoFactor} sub={t.twoFactorSub}>
      <Loaded query={status} lines={1}>
        {({ enabled }) => (
          <div class="stack">
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
            {enabled && <CodesLeft make={() => setOpen('codes')} />}
          </div>
        )}
      </Loaded>
      {open === 'disable' && <Disable close={close} />}
      {open === 'codes' && (
        <MakeCodes
          close={() => {
            close()
            onDone?.()
          }}
        />
      )}
      {open !== null && typeof open === 'object' && (
        <Enable setup={open} close={close} done={() => setOpen('codes')} />
      )}
    </Card>
  )
}
