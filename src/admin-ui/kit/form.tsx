/** Forms: values, the service's faults beside the fields they name, nothing typed lost. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApiError, splitByField } from '#src/admin-ui/api-error.ts'
import { common } from '#src/admin-ui/texts.ts'
import { Button } from './button.tsx'
import { Note } from './page.tsx'
import { messageOf, toastError } from './toast.tsx'

export interface FormOptions<T extends object, R> {
  initial: T
  /** Sends the values, or only `changes`: those that differ from the beginning. What it throws is shown at the field that it names, else above the buttons. */
  send: (values: T, changes: Partial<T>) => Promise<R>
  /** After success; the values are then the form's new beginning. */
  done?: (answer: R, values: T) => unknown
}

export interface Form<T extends object> {
  values: T
  set: (changes: Partial<T>) => void
  /** Name, value, setter and fault of a field, to spread: `<TextField label=… {...form.field('label')} />`. */
  field: <K extends keyof T & string>(
    name: K,
  ) => { name: K; value: T[K]; onValue: (value: T[K]) => void; error: string | undefined }
  /** A fault that names no field. */
  error: string | null
  busy: boolean
  /** Something differs from the beginning. */
  changed: boolean
  /** The fields that differ from the beginning: a body for PATCH. */
  changes: () => Partial<T>
  submit: () => Promise<void>
  /** Begins anew, with other values if given. */
  reset: (values?: T) => void
}

const same = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b)

function changesOf<T extends object>(values: T, initial: T): Partial<T> {
  const entries = Object.entries(values) as [keyof T, T[keyof T]][]
  return Object.fromEntries(
    entries.filter(([name, value]) => !same(value, initial[name])),
  ) as Partial<T>
}

type Faults = Record<string, string>

/** A fault at the fields of a form: which one it names, else the whole form. */
function faultsOf(error: unknown, names: string[]): { fields: Faults; form: string | null } {
  const message = messageOf(error)
  const split = splitByField(message, names)
  return split
    ? { fields: { [split.field]: split.text }, form: null }
    : { fields: {}, form: message }
}

export function useForm<T extends object, R>(options: FormOptions<T, R>): Form<T> {
  const [initial, setInitial] = useState(options.initial)
  const [values, setValues] = useState(options.initial)
  const [faults, setFaults] = useState<{ fields: Faults; form: string | null }>({
    fields: {},
    form: null,
  })
  const [busy, setBusy] = useState(false)
  const changed = !same(values, initial)
  useEffect(() => {
    if (!changed) return
    const keep = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', keep)
    return () => removeEventListener('beforeunload', keep)
  }, [changed])
  const set = (changes: Partial<T>) => {
    setValues((now) => ({ ...now, ...changes }))
    setFaults((now) => ({
      form: null,
      fields: Object.fromEntries(Object.entries(now.fields).filter(([name]) => !(name in changes))),
    }))
  }
  const submit = async () => {
    if (busy) return
    setBusy(true)
    setFaults({ fields: {}, form: null })
    try {
      const answer = await options.send(values, changesOf(values, initial))
      setInitial(values)
      await options.done?.(answer, values)
    } catch (error) {
      // A lost session: the login lies over the form, which waits as it is.
      if (!(error instanceof ApiError && error.message === 'unauthorized')) {
        setFaults(faultsOf(error, Object.keys(values)))
      }
      toastIfForeign(error)
    } finally {
      setBusy(false)
    }
  }
  return {
    values,
    set,
    field: (name) => ({
      name,
      value: values[name],
      onValue: (value) => set({ [name]: value } as unknown as Partial<T>),
      error: faults.fields[name],
    }),
    error: faults.form,
    busy,
    changed,
    changes: () => changesOf(values, initial),
    submit,
    reset: (next = initial) => {
      setInitial(next)
      setValues(next)
      setFaults({ fields: {}, form: null })
    },
  }
}

/** A fault of our own making, no refusal: it must not hide in a form. */
function toastIfForeign(error: unknown): void {
  if (error instanceof ApiError) return
  toastError(error)
  console.error(error)
}

/** The `<form>` of a form, its general fault and its button. */
export function FormBox<T extends object>(p: {
  form: Form<T>
  children: ComponentChildren
  /** The verb on the button; `Save` unless given. */
  action?: string
  /** Can be sent although nothing was changed: what makes something new. */
  always?: boolean
  danger?: boolean
  /** Beside the button. */
  extra?: ComponentChildren
}) {
  const { form } = p
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const element = event.currentTarget
        void form.submit().then(() => focusFault(element))
      }}
    >
      {p.children}
      {form.error !== null && <Note tone="bad">{form.error}</Note>}
      <div class="row end">
        {p.extra}
        <Button
          kind={p.danger ? 'danger' : 'primary'}
          busy={form.busy}
          disabled={!p.always && !form.changed}
        >
          {p.action ?? common().save}
        </Button>
      </div>
    </form>
  )
}

function focusFault(form: HTMLFormElement): void {
  requestAnimationFrame(() => {
    form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  })
}
