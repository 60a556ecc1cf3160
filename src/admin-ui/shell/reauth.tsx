/** Asks for password or code before what the thief of a session would do. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { AppCodeField, OwnPasswordField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { shell } from '#src/admin-ui/texts.ts'

function ByPassword({ answer }: { answer: (yes: boolean) => void }) {
  const t = shell().reauth
  const form = useForm({
    initial: { password: '' },
    send: (json) => ok(api.reauth.$post({ json })),
    done: () => answer(true),
  })
  return (
    <FormBox form={form} action={t.action}>
      <OwnPasswordField label={t.password} {...form.field('password')} />
    </FormBox>
  )
}

function ByCode({ answer }: { answer: (yes: boolean) => void }) {
  const t = shell().reauth
  const form = useForm({
    initial: { code: '' },
    send: (json) => ok(api.reauth.$post({ json })),
    done: () => answer(true),
  })
  return (
    <FormBox form={form} action={t.action}>
      <AppCodeField label={t.code} {...form.field('code')} />
    </FormBox>
  )
}

export function Reauth({ answer }: { answer: (yes: boolean) => void }) {
  const t = shell().reauth
  const status = useQuery('2fa', () => ok(api['2fa'].status.$get()))
  const [byCode, setByCode] = useState(false)
  return (
    <Dialog title={t.title} onClose={() => answer(false)}>
      <div class="stack">
        <p class="t2">{t.text}</p>
        {byCode ? <ByCode answer={answer} /> : <ByPassword answer={answer} />}
        {status.data?.enabled && (
          <Button kind="ghost" onClick={() => setByCode(!byCode)}>
            {byCode ? t.usePassword : t.useCode}
          </Button>
        )}
      </div>
    </Dialog>
  )
}
