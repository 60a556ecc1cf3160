/** The root: login, or the shell, with a login over it when its session has ended. */
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Confirms, confirmDiscard, hasChanges } from '#src/admin-ui/kit/dialog.tsx'
import { Skeleton } from '#src/admin-ui/kit/state.tsx'
import { Toasts } from '#src/admin-ui/kit/toast.tsx'
import { forgetAll } from '#src/admin-ui/query.ts'
import { reauth } from '#src/admin-ui/reauth.ts'
import { guard } from '#src/admin-ui/router.ts'
import { session } from '#src/admin-ui/session.ts'
import { shell } from '#src/admin-ui/texts.ts'
import { Brand } from './brand.tsx'
import { logOut } from './log-out.ts'
import { Login, LoginForm } from './login.tsx'
import { PartFailed, usePart } from './screen-view.tsx'
import { Shell } from './shell.tsx'

const loadEnrolment = async () =>
  (await import('#src/admin-ui/screens/security/enrolment.tsx')).Enrolment

const loadReauth = async () => (await import('./reauth.tsx')).Reauth

// Another screen takes all forms with it, another query only those of what it opened.
guard.ask = (stays) =>
  hasChanges(stays ? document.querySelector('dialog[open]') : document) ? confirmDiscard() : null

/** Lies over the screen, which keeps all that was typed. Only a login, or leaving, closes it. */
function LoginAgain() {
  const t = shell().login
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  const leave = () => {
    forgetAll()
    session.set('out')
  }
  return (
    <dialog
      ref={ref}
      class="modal relogin"
      aria-label={t.again}
      onCancel={(event) => event.preventDefault()}
      // Browsers close it all the same at a second Escape.
      onClose={() => ref.current?.showModal()}
    >
      <div class="stack">
        <LoginForm title={t.again} text={t.againText} />
        <Button kind="ghost" onClick={leave}>
          {t.leave}
        </Button>
      </div>
    </dialog>
  )
}

/** The page of an account that has to set up two-factor login before anything else. */
function Enrolment() {
  const part = usePart('enrolment', loadEnrolment)
  if (part === 'failed') return <PartFailed />
  if (part === 'loading') return <Skeleton lines={5} tall />
  const { component: Component } = part
  return (
    <main class="login">
      <Brand />
      <Component />
      <Button kind="ghost" onClick={logOut}>
        {shell().logout}
      </Button>
    </main>
  )
}

/** Asks for password or code; a chunk that is gone leaves the refusal as it was. */
function AskedReauth({ answer }: { answer: (yes: boolean) => void }) {
  const part = usePart('reauth', loadReauth)
  useEffect(() => {
    if (part === 'failed') answer(false)
  }, [part])
  if (part === 'failed' || part === 'loading') return null
  const { component: Component } = part
  return <Component answer={answer} />
}

function Reauth() {
  const asked = reauth.use()
  return asked && <AskedReauth answer={asked.answer} />
}

export function App() {
  const state = session.use()
  if (state === 'out') {
    return (
      <>
        <Login />
        <Toasts />
      </>
    )
  }
  if (state === 'enrol') {
    return (
      <>
        <Enrolment />
        <Confirms />
        <Reauth />
        <Toasts />
      </>
    )
  }
  return (
    <>
      <Shell />
      <Confirms />
      <Reauth />
      {state === 'expired' && <LoginAgain />}
      <Toasts />
    </>
  )
}
