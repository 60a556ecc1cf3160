/** The passphrase of backups: set, changed and removed; never shown. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { ApiError } from '#src/admin-ui/api-error.ts'
import { Badge } from '#src/admin-ui/kit/badge.tsx'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm, Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { SecretField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card, Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, type Query, useAction } from '#src/admin-ui/query.ts'
import { accountTexts } from '#src/admin-ui/screens/security/texts.ts'
import { common } from '#src/admin-ui/texts.ts'

export const BACKUP_SETTINGS = 'backup-settings'

function SetPassphrase({ close }: { close: () => void }) {
  const t = accountTexts().backup
  const form = useForm({
    initial: { passphrase: '', again: '' },
    send: ({ passphrase, again }) => {
      if (again !== passphrase) throw new ApiError(400, `again ${t.different}`)
      return ok(api.settings.backup.$post({ json: { passphrase } }))
    },
    done: () => {
      toast(t.passphraseSet)
      invalidate(BACKUP_SETTINGS)
      close()
    },
  })
  return (
    <Dialog title={t.encryption} onClose={close}>
      <FormBox form={form} action={t.encrypt}>
        <Note tone="warn">{t.passphraseLost}</Note>
        <SecretField
          label={t.passphrase}
          hint={t.passphraseHint}
          autoComplete="new-password"
          focus
          {...form.field('passphrase')}
        />
        <SecretField label={t.again} autoComplete="new-password" {...form.field('again')} />
      </FormBox>
    </Dialog>
  )
}

function RemovePassphrase() {
  const t = accountTexts().backup
  const remove = useAction(async () => {
    const asked = { title: t.removeTitle, text: t.removeText, action: t.removePassphrase }
    if (!(await confirm({ ...asked, danger: true }))) return
    await ok(api.settings.backup.$post({ json: { passphrase: null } }))
    toast(t.passphraseRemoved)
    invalidate(BACKUP_SETTINGS)
  })
  return (
    <Button busy={remove.busy} onClick={remove.run}>
      {t.removePassphrase}
    </Button>
  )
}

export function Encryption({ settings }: { settings: Query<{ encrypted: boolean }> }) {
  const t = accountTexts().backup
  const [isOpen, setOpen] = useState(false)
  return (
    <Card title={t.encryption} sub={t.encryptionSub}>
      <Loaded query={settings} lines={1}>
        {({ encrypted }) => (
          <div class="row between">
            <Badge tone={encrypted ? 'ok' : 'muted'}>
              {encrypted ? common().on : common().off}
            </Badge>
            <div class="row">
              {encrypted && <RemovePassphrase />}
              <Button
                kind={encrypted ? 'plain' : 'primary'}
                icon="lock"
                onClick={() => setOpen(true)}
              >
                {encrypted ? t.changePassphrase : t.setPassphrase}
              </Button>
            </div>
          </div>
        )}
      </Loaded>
      {isOpen && <SetPassphrase close={() => setOpen(false)} />}
    </Card>
  )
}
