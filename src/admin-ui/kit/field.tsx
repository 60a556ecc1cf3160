/** Fields of forms. Each takes `value` and `onValue`, and `error`: what the service says of it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { common } from '#src/admin-ui/texts.ts'
import { Icon } from './icons.tsx'

export interface FieldProps<T> {
  label: string
  name: string
  value: T
  onValue: (value: T) => void
  hint?: ComponentChildren
  error?: string | undefined
  disabled?: boolean
  required?: boolean
}

/** Hint and fault of the control with this id, which `describedBy` names. */
export function Remarks(p: { id: string; hint?: ComponentChildren; error?: string | undefined }) {
  return (
    <>
      {p.hint && (
        <small id={`${p.id}-hint`} class="hint">
          {p.hint}
        </small>
      )}
      {p.error && (
        <small id={`${p.id}-error`} class="fault" role="alert">
          {p.error}
        </small>
      )}
    </>
  )
}

export const describedBy = (
  id: string,
  p: { hint?: ComponentChildren; error?: string | undefined },
) => [p.hint && `${id}-hint`, p.error && `${id}-error`].filter(Boolean).join(' ') || undefined

/** Label, control, hint and fault, tied together. */
function Frame(p: {
  id: string
  label: string
  hint?: ComponentChildren
  error?: string | undefined
  children: ComponentChildren
}) {
  return (
    <div class={p.error ? 'fld bad' : 'fld'}>
      <label for={p.id}>{p.label}</label>
      {p.children}
      <Remarks id={p.id} hint={p.hint} error={p.error} />
    </div>
  )
}

/** What every native control of a field has. */
function controlOf(id: string, p: Omit<FieldProps<unknown>, 'value' | 'onValue' | 'label'>) {
  return {
    id,
    name: p.name,
    disabled: p.disabled,
    required: p.required,
    'aria-invalid': p.error ? true : undefined,
    'aria-describedby': describedBy(id, p),
  }
}

interface Native {
  type?: 'text' | 'email' | 'url' | 'tel' | 'date' | 'datetime-local'
  inputMode?: 'numeric' | 'email' | 'url' | 'text'
  autoComplete?: string
  maxLength?: number
  placeholder?: string
  spellcheck?: boolean
}

export interface TextFieldProps extends FieldProps<string>, Native {
  /** Focused as soon as it is there: the one thing to fill in. */
  focus?: boolean
  mono?: boolean
}

export function TextField(p: TextFieldProps) {
  const id = useId()
  return (
    <Frame id={id} label={p.label} hint={p.hint} error={p.error}>
      <input
        {...controlOf(id, p)}
        {...typeOf(p.type ?? 'text')}
        inputMode={p.inputMode}
        maxLength={p.maxLength}
        placeholder={p.placeholder}
        autoComplete={p.autoComplete ?? 'off'}
        spellcheck={p.spellcheck ?? false}
        class={p.mono ? 'mono' : undefined}
        value={p.value}
        ref={p.focus ? focusOnce : null}
        onInput={(event) => p.onValue(event.currentTarget.value)}
      />
    </Frame>
  )
}

/** Preact's types want to know the type of an input when compiling. */
const typeOf = (type: string) => ({ type }) as { type: 'text' }

function focusOnce(element: HTMLElement | null): void {
  if (!element || element.dataset.focused) return
  element.dataset.focused = 'yes'
  element.focus()
}

/** A password or a secret, with a button that shows it. */
export function SecretField(p: TextFieldProps) {
  const id = useId()
  const [shown, setShown] = useState(false)
  const t = common()
  return (
    <Frame id={id} label={p.label} hint={p.hint} error={p.error}>
      <span class="inside">
        <input
          {...controlOf(id, p)}
          {...typeOf(shown ? 'text' : 'password')}
          autoComplete={p.autoComplete ?? 'off'}
          placeholder={p.placeholder}
          spellcheck={false}
          value={p.value}
          ref={p.focus ? focusOnce : null}
          onInput={(event) => p.onValue(event.currentTarget.value)}
        />
        <button
          type="button"
          aria-label={shown ? t.hide : t.show}
          aria-controls={id}
          onClick={() => setShown(!shown)}
        >
          <Icon name={shown ? 'eyeOff' : 'eye'} />
        </button>
      </span>
    </Frame>
  )
}

/** The password of whoever is logged in, given once more. */
export const OwnPasswordField = (p: FieldProps<string>) => (
  <SecretField {...p} autoComplete="current-password" focus />
)

/** The code that an authenticator app shows. */
export const AppCodeField = (p: FieldProps<string>) => (
  <TextField {...p} inputMode="numeric" autoComplete="one-time-code" maxLength={6} focus />
)

/** A number, whole unless `step` is less; null while the field is empty or holds something else. */
export function NumberField(
  p: FieldProps<number | null> & {
    min?: number
    max?: number
    step?: number
    placeholder?: string
    /** After the number: `₽`, `days`. */
    unit?: string
  },
) {
  const id = useId()
  const input = (
    <input
      {...controlOf(id, p)}
      type="number"
      inputMode={(p.step ?? 1) < 1 ? 'decimal' : 'numeric'}
      min={p.min}
      max={p.max}
      step={p.step ?? 1}
      placeholder={p.placeholder}
      value={p.value ?? ''}
      onInput={(event) => {
        const { value, valueAsNumber } = event.currentTarget
        p.onValue(value === '' || Number.isNaN(valueAsNumber) ? null : valueAsNumber)
      }}
    />
  )
  return (
    <Frame id={id} label={p.label} hint={p.hint} error={p.error}>
      {p.unit ? (
        <span class="inside">
          {input}
          <span class="unit">{p.unit}</span>
        </span>
      ) : (
        input
      )}
    </Frame>
  )
}

export function TextArea(p: FieldProps<string> & { rows?: number; mono?: boolean }) {
  const id = useId()
  return (
    <Frame id={id} label={p.label} hint={p.hint} error={p.error}>
      <textarea
        {...controlOf(id, p)}
        rows={p.rows ?? 4}
        class={p.mono ? 'mono' : undefined}
        value={p.value}
        onInput={(event) => p.onValue(event.currentTarget.value)}
      />
    </Frame>
  )
}

export interface Option<V extends string> {
  value: V
  label: string
}

export function SelectField<V extends string>(
  p: FieldProps<V> & {
    options: readonly Option<V>[] /** Shown while nothing is chosen. */
    empty?: string
  },
) {
  const id = useId()
  return (
    <Frame id={id} label={p.label} hint={p.hint} error={p.error}>
      <span class="select">
        <select
          {...controlOf(id, p)}
          value={p.value}
          onChange={(event) => p.onValue(event.currentTarget.value as V)}
        >
          {p.empty !== undefined && <option value="">{p.empty}</option>}
          {p.options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
        <Icon name="chevronDown" />
      </span>
    </Frame>
  )
}

/** On or off, at once or with its form. */
export function Switch(p: FieldProps<boolean>) {
  const id = useId()
  return (
    <div class={p.error ? 'fld bad' : 'fld'}>
      <label class="switch" for={id}>
        <input
          {...controlOf(id, p)}
          type="checkbox"
          role="switch"
          aria-checked={p.value}
          checked={p.value}
          onChange={(event) => p.onValue(event.currentTarget.checked)}
        />
        <span>{p.label}</span>
      </label>
      <Remarks id={id} hint={p.hint} error={p.error} />
    </div>
  )
}

const TYPING_MS = 250

/** A search box: tells after a pause in typing, at once on Enter. */
export function SearchBox(p: { label: string; value: string; onValue: (value: string) => void }) {
  const ref = useRef<HTMLInputElement>(null)
  const told = useRef(p.value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    // Changed from outside: cleared, or another address.
    if (p.value === told.current) return
    told.current = p.value
    if (ref.current) ref.current.value = p.value
  }, [p.value])
  const tell = () => {
    clearTimeout(timer.current)
    const value = ref.current?.value.trim() ?? ''
    if (value === told.current) return
    told.current = value
    p.onValue(value)
  }
  return (
    <span class="search-box">
      <Icon name="search" />
      <input
        ref={ref}
        type="search"
        aria-label={p.label}
        placeholder={p.label}
        defaultValue={p.value}
        autoComplete="off"
        spellcheck={false}
        onInput={() => {
          clearTimeout(timer.current)
          timer.current = setTimeout(tell, TYPING_MS)
        }}
        onKeyDown={(event) => event.key === 'Enter' && tell()}
      />
    </span>
  )
}

/** A few choices side by side. */
export const Segments = <V extends string>(p: {
  label: string
  value: V
  options: readonly Option<V>[]
  onValue: (value: V) => void
}) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend in sight
  <div class="seg" role="group" aria-label={p.label}>
    {p.options.map((option) => (
      <button
        key={option.value}
        type="button"
        aria-pressed={option.value === p.value}
        onClick={() => p.onValue(option.value)}
      >
        {option.label}
      </button>
    ))}
  </div>
)
