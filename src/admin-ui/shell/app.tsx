/** The root: login, or the shell, with a login over it when its session has ended. */
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Confirms, confirmDiscard, hasChanges } from '#src/admin-ui/kit/dialog.tsx'
import { Toasts } from '#src/admin-ui/kit/toast.tsx'
import { forgetAll } from '#src/admin-ui/query.ts'
import { guard } from '#src/admin-ui/router.ts'
import { session } from '#src/admin-ui/session.ts'
import { shell } from '#src/admin-ui/texts.ts'
import { Login, LoginForm } from './login.tsx'
import { Shell } from './shell.tsx'

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
  return (
    <>
      <Shell />
      <Confirms />
      {state === 'expired' && <LoginAgain />}
      <Toasts />
    </>
  )
}
