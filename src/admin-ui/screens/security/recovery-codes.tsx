/** Recovery codes: made by the password, shown once. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { Button, CopyButton } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { saveText } from '#src/admin-ui/kit/download.ts'
import { OwnPasswordField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { invalidate, useQuery } from '#src/admin-ui/query.ts'
import { accountTexts } from '#src/admin-ui/screens/security/texts.ts'
import { common } from '#src/admin-ui/texts.ts'

/** So few are said loudly. */
const FEW = 2

function Codes({ codes, close }: { codes: string[]; close: () => void }) {
  const t = accountTexts().security
  const text = codes.join('\n')
  return (
    <div class="stack">
      <Note tone="warn">{t.codesOnce}</Note>
      <pre class="mono">{text}</pre>
      <div class="row end">
        <CopyButton text={text} label={t.copyCodes} />
        <Button
          icon="download"
          onClick={() => saveText('recovery-codes.txt', `${text}\n`, 'text/plain')}
        >
          {t.saveCodes}
        </Button>
        <Button kind="primary" onClick={close}>
          {t.codesKept}
        </Button>
      </div>
    </div>
  )
}

/** Asks for the password and shows the codes. */
export function MakeCodes({ close }: { close: () => void }) {
  const t = accountTexts().security
  const [codes, setCodes] = useState<string[] | null>(null)
  const form = useForm({
    initial: { password: '' },
    send: (json) => ok(api['2fa']['recovery-codes'].$post({ json })),
    done: (answer) => {
      setCodes(answer.codes)
      invalidate('recovery codes')
    },
  })
  return (
    <Dialog title={t.codes} onClose={close}>
      {codes ? (
        <Codes codes={codes} close={close} />
      ) : (
        <FormBox
          form={form}
          action={t.makeCodes}
          extra={<Button onClick={close}>{common().cancel}</Button>}
        >
          <p class="t2">{t.codesText}</p>
          <OwnPasswordField label={t.current} {...form.field('password')} />
        </FormBox>
      )}
    </Dialog>
  )
}

/** How many are left. */
export function CodesLeft({ make }: { make: () => void }) {
  const t = accountTexts().security
  const query = useQuery('recovery codes', () => ok(api['2fa']['recovery-codes'].$get()))
  return (
    <Loaded query={query} lines={1}>
      {({ left }) => (
        <div class="stack">
          {left <= FEW && <Note tone="warn">{t.codesFew}</Note>}
          <div class="row between">
            <span>{t.codesLeft(left)}</span>
            <Button onClick={make}>{t.newCodes}</Button>
          </div>
        </div>
      )}
    </Loaded>
  )
}
