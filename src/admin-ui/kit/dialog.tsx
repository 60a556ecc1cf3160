/** Dialogs and drawers on `<dialog>`: focus stays inside, Escape closes, focus returns. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { createStore } from '#src/admin-ui/store.ts'
import { common } from '#src/admin-ui/texts.ts'
import { Button, IconButton } from './button.tsx'
import { TextField } from './field.tsx'

export interface DialogProps {
  title: string
  /** Asked to close: Escape, the cross, a click beside it. */
  onClose: () => void
  children: ComponentChildren
  /** `side`: a drawer at the edge, the whole screen on phones. `bare`: no head of its own. */
  form?: 'middle' | 'side' | 'bare'
  wide?: boolean
  /** Below the content, always in sight. */
  foot?: ComponentChildren
  /** In the head, before the cross. */
  actions?: ComponentChildren
}

const CLASSES = { middle: 'modal', side: 'drawer', bare: 'bare' }

/** Drawn while it is open: `{open && <Dialog …>}`. */
export function Dialog(p: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const form = p.form ?? 'middle'
  const ask = async () => {
    if (!hasChanges(ref.current) || (await confirmDiscard())) p.onClose()
  }
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    dialog?.showModal()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keeps clicks from the row that it may stand in
    <dialog
      ref={ref}
      class={`${CLASSES[form]} ${p.wide ? 'wide' : ''}`}
      aria-label={p.title}
      onClick={(event) => event.stopPropagation()}
      onCancel={(event) => {
        event.preventDefault()
        void ask()
      }}
      // Browsers close it all the same at a second Escape: while it is drawn it is open.
      onClose={() => ref.current?.showModal()}
      onMouseDown={(event) => {
        if (event.target === ref.current) void ask()
      }}
    >
      {form === 'bare' ? (
        p.children
      ) : (
        <div class="dlg">
          <header>
            <h2>{p.title}</h2>
            <div class="dlg-actions">
              {p.actions}
              <IconButton icon="x" label={common().close} onClick={ask} />
            </div>
          </header>
          <div class="dlg-b">{p.children}</div>
          {p.foot && <footer>{p.foot}</footer>}
        </div>
      )}
    </dialog>
  )
}

/** A dialog at the edge, for one record beside its list. */
export const Drawer = (p: Omit<DialogProps, 'form'>) => <Dialog {...p} form="side" />

export interface Question {
  /** Names the object: `Revoke the subscription of @anna?` */
  title: string
  /** What will happen, and what won't come back. */
  text?: ComponentChildren
  /** The verb on the button: `Revoke`. */
  action: string
  danger?: boolean
  /** Must be typed first: for what destroys much. */
  type?: string
}

const asked = createStore<{ question: Question; answer: (yes: boolean) => void } | null>(null)

/** Asks before something is done; false when the user thinks better of it. */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    asked.get()?.answer(false)
    asked.set({
      question,
      answer: (yes) => {
        asked.set(null)
        resolve(yes)
      },
    })
  })
}

/** Whether something is typed and not sent in the forms of a place. */
export const hasChanges = (place: ParentNode | null) =>
  place?.querySelector('form[data-changed]') != null

/** Asks before what is typed goes with its form. */
export const confirmDiscard = () => {
  const { discardTitle: title, discard: action } = common()
  return confirm({ title, action, danger: true })
}

function Confirm({ question, answer }: { question: Question; answer: (yes: boolean) => void }) {
  const [typed, setTyped] = useState('')
  const t = common()
  const allowed = question.type === undefined || typed.trim() === question.type
  return (
    <Dialog title={question.title} onClose={() => answer(false)}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (allowed) answer(true)
        }}
      >
        {question.text && <div class="t2">{question.text}</div>}
        {question.type !== undefined && (
          <TextField
            label={t.typeToConfirm(question.type)}
            name="confirm"
            value={typed}
            onValue={setTyped}
          />
        )}
        <div class="row end">
          <Button onClick={() => answer(false)}>{t.cancel}</Button>
          <Button kind={question.danger ? 'danger' : 'primary'} disabled={!allowed}>
            {question.action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Drawn once, by the root. */
export function Confirms() {
  const one = asked.use()
  return one && <Confirm question={one.question} answer={one.answer} />
}
