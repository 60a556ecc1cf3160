/** Forms: values, the service's faults beside the fields they name, nothing typed lost. */
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError, splitByField } from '#src/admin-ui/api-error.ts'
import { faultInWords } from '#src/admin-ui/refusals.ts'
import { common } from '#src/admin-ui/texts.ts'
import { Button } from './button.tsx'
import { confirm } from './dialog.tsx'
import { Note } from './page.tsx'
import { messageOf, toastError } from './toast.tsx'

export interface FormOptions<T extends object, R> {
  initial: T
  /** Sends the values, or only `changes`: those that differ from the beginning. What it throws is shown at the field that it names, else above the buttons. */
  send: (values: T, changes: Partial<T>) => Promise<R>
  /** After success; the values are then the form's new beginning. */
  done?: (answer: R, values: T) => unknown
  /** What stands between the entries of a field that holds many: a fault at one of them begins with it. */
  between?: RegExp
  /** Would be done twice if it were sent twice: after an answer that was lost it asks before it sends again. */
  once?: boolean
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
  /** The faults that name one, whole. */
  faults: Faults
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

interface Refused {
  /** What stands at a field. */
  fields: Faults
  /** The same with the name, for where that field is not drawn. */
  whole: Faults
  form: string | null
}

const NO_FAULT: Refused = { fields: {}, whole: {}, form: null }

/** A fault at the fields of a form: which one it names, else the whole form. */
function faultsOf<T extends object>(
  error: unknown,
  values: T,
  between: RegExp | undefined,
): Refused {
  const split = error instanceof ApiError && splitByField(error.message, Object.keys(values))
  if (!split) return { ...NO_FAULT, form: messageOf(error) }
  const { field, text, at } = split
  const entries = between && String(values[field as keyof T]).split(between)
  const entry = entries?.filter((one) => one.trim() !== '')[at]
  const fault = faultInWords(error as ApiError, text)
  return {
    fields: { [field]: entry === undefined ? fault : `${entry}: ${fault}` },
    whole: { [field]: messageOf(error) },
    form: null,
  }
}

const without = (faults: Faults, names: object): Faults =>
  Object.fromEntries(Object.entries(faults).filter(([name]) => !(name in names)))

export function useForm<T extends object, R>(options: FormOptions<T, R>): Form<T> {
  const [initial, setInitial] = useState(options.initial)
  const [values, setValues] = useState(options.initial)
  const [faults, setFaults] = useState(NO_FAULT)
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
      fields: without(now.fields, changes),
      whole: without(now.whole, changes),
    }))
  }
  // Not state, which is that of the last drawing: two taps may come before the next one.
  const sending = useRef(false)
  const lost = useRef(false)
  const submit = async () => {
    if (sending.current) return
    sending.current = true
    try {
      if (!(options.once && lost.current) || (await confirmAgain())) await send()
    } finally {
      sending.current = false
    }
  }
  const send = async () => {
    setBusy(true)
    setFaults(NO_FAULT)
    try {
      const answer = await options.send(values, changesOf(values, initial))
      lost.current = false
      setInitial(values)
      await options.done?.(answer, values)
    } catch (error) {
      lost.current ||= error instanceof ApiError && error.status === 0
      // A lost session: the login lies over the form, which waits as it is.
      if (!(error instanceof ApiError && error.code === 'unauthorized')) {
        setFaults(faultsOf(error, values, options.between))
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
    faults: faults.whole,
    busy,
    changed,
    changes: () => changesOf(values, initial),
    submit,
    reset: (next = initial) => {
      setInitial(next)
      setValues(next)
      setFaults(NO_FAULT)
    },
  }
}

/** Before something is sent that may have been done already. */
const confirmAgain = () => {
  const t = common()
  return confirm({ title: t.againTitle, text: t.againText, action: t.again, danger: true })
}

/** A fault of our own making, no refusal: it must not hide in a form. */
function toastIfForeign(error: unknown): void {
  if (error instanceof ApiError) return
  toastError(error)
  console.error(error)
}

/** The fault of a form to show above its buttons: the general one, else one of a field that is not drawn. */
function useFaultAbove<T extends object>({ error, faults }: Form<T>) {
  const ref = useRef<HTMLFormElement>(null)
  const [unseen, setUnseen] = useState<string | null>(null)
  // After each drawing: a field may come and go.
  useLayoutEffect(() => {
    const drawn = ref.current?.elements
    const found = Object.entries(faults).find(([name]) => !drawn?.namedItem(name))
    setUnseen(found?.[1] ?? null)
  })
  return { ref, fault: error ?? unseen }
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
  const { ref, fault } = useFaultAbove(form)
  return (
    <form
      ref={ref}
      class="stack"
      noValidate
      data-changed={form.changed || undefined}
      onSubmit={(event) => {
        event.preventDefault()
        const element = event.currentTarget
        void form.submit().then(() => focusFault(element))
      }}
    >
      {p.children}
      {fault !== null && <Note tone="bad">{fault}</Note>}
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
