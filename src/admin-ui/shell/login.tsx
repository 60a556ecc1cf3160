/** Login: the password, then the code where the account has a second factor. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { boot } from '#src/admin-ui/boot.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { SecretField, TextField } from '#src/admin-ui/kit/field.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { messageOf } from '#src/admin-ui/kit/toast.tsx'
import { session } from '#src/admin-ui/session.ts'
import { shell } from '#src/admin-ui/texts.ts'
import { Brand } from './brand.tsx'
import { LanguageButton, ThemeButton } from './preferences.tsx'

/** How long the service waits for the code. */
const PENDING_MS = 5 * 60_000
const CODE_LENGTH = 6

/** Thrown for what the browser does, not the service. */
class BrowserFault extends Error {}

/** The session counts only if the browser keeps its cookie, which is for https (and localhost). */
async function enter(): Promise<void> {
  const { authenticated } = await ok(api.me.$get())
  if (authenticated) return session.set('in')
  const t = shell().login
  throw new BrowserFault(isSecureContext ? t.blocked : t.dropped)
}

/** Sends something of the login; the fault, if any, is shown above the button. */
function useStep() {
  const [fault, setFault] = useState('')
  const [busy, setBusy] = useState(false)
  const step = async (work: () => Promise<void>): Promise<boolean> => {
    setBusy(true)
    setFault('')
    try {
      await work()
      return true
    } catch (error) {
      setFault(error instanceof BrowserFault ? error.message : messageOf(error))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { fault, busy, step, setFault }
}

function PasswordStep(p: { onPending: (token: string) => void; notice: string }) {
  const t = shell().login
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const { fault, busy, step } = useStep()
  const submit = () =>
    step(async () => {
      const answer = await ok(api.login.$post({ json: { username, password, panel: true } }))
      if ('pending_token' in answer) p.onPending(answer.pending_token)
      else await enter()
    })
  const said = fault || p.notice
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {!isSecureContext && !said && <Note tone="warn">{t.insecure}</Note>}
      <TextField
        label={t.username}
        name="username"
        autoComplete="username"
        value={username}
        onValue={setUsername}
        required
        focus
      />
      <SecretField
        label={t.password}
        name="password"
        autoComplete="current-password"
        value={password}
        onValue={setPassword}
        required
      />
      {said && <Note tone="bad">{said}</Note>}
      <Button kind="primary" busy={busy}>
        {t.submit}
      </Button>
    </form>
  )
}

function CodeStep(p: { token: string; onBack: (notice: string) => void }) {
  const t = shell().login
  const [code, setCode] = useState('')
  const [recovery, setRecovery] = useState(false)
  const [leftMs, setLeftMs] = useState(PENDING_MS)
  const { fault, busy, step } = useStep()
  const sent = useRef('')
  useEffect(() => {
    const started = Date.now()
    const timer = setInterval(() => {
      const left = PENDING_MS - (Date.now() - started)
      setLeftMs(left)
      if (left <= 0) p.onBack(t.tooLate)
    }, 1000)
    return () => clearInterval(timer)
  }, [])
  const submit = async (text: string) => {
    sent.current = text
    await step(async () => {
      await ok(api.login.totp.$post({ json: { pending_token: p.token, code: text, panel: true } }))
      await enter()
    })
  }
  const type = (text: string) => {
    const digits = text.replace(/\D/g, '').slice(0, CODE_LENGTH)
    setCode(digits)
    if (digits.length === CODE_LENGTH && digits !== sent.current && !busy) void submit(digits)
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void submit(code)
      }}
    >
      <p class="t2">{recovery ? t.recoveryText : t.codeText}</p>
      {recovery ? (
        <TextField
          label={t.recoveryCode}
          name="recovery"
          autoComplete="off"
          maxLength={64}
          value={code}
          onValue={setCode}
          required
          focus
        />
      ) : (
        <div class="code">
          <TextField
            label={t.code}
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            value={code}
            onValue={type}
            hint={t.minutes(Math.max(1, Math.ceil(leftMs / 60_000)))}
            required
            focus
          />
        </div>
      )}
      {fault && <Note tone="bad">{fault}</Note>}
      <Button
        kind="primary"
        busy={busy}
        disabled={recovery ? code.trim() === '' : code.length !== CODE_LENGTH}
      >
        {t.confirm}
      </Button>
      {!recovery && (
        <Button
          kind="ghost"
          onClick={() => {
            setCode('')
            setRecovery(true)
          }}
        >
          {t.useRecovery}
        </Button>
      )}
      <Button kind="ghost" onClick={() => p.onBack('')}>
        {t.back}
      </Button>
    </form>
  )
}

/** The steps of a login; the session store says when it worked. */
export function LoginForm(p: { title: string; text?: string }) {
  const t = shell().login
  const [token, setToken] = useState<string | null>(null)
  const [notice, setNotice] = useState('')
  return (
    <div class="stack">
      <div>
        <h1>{token === null ? p.title : t.codeTitle}</h1>
        {p.text && token === null && <p class="t2">{p.text}</p>}
      </div>
      {token === null ? (
        <PasswordStep
          notice={notice}
          onPending={(next) => {
            setNotice('')
            setToken(next)
          }}
        />
      ) : (
        <CodeStep
          key={token}
          token={token}
          onBack={(next) => {
            setNotice(next)
            setToken(null)
          }}
        />
      )}
    </div>
  )
}

/** The page of somebody who is not logged in. */
export function Login() {
  const t = shell().login
  useEffect(() => {
    document.title = `${t.title} · ${boot.brandName}`
  }, [t])
  return (
    <main class="login">
      <Brand />
      <div class="card login-box">
        <div class="card-b">
          <LoginForm title={t.title} />
        </div>
      </div>
      <div class="row">
        <LanguageButton />
        <ThemeButton />
      </div>
    </main>
  )
}
