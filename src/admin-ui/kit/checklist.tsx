/** Some of a few, ticked. */
import { useId } from 'preact/hooks'
import type { FieldProps, Option } from './field.tsx'
import './checklist.css'

/** What is ticked is told in the order of the options. */
export function Checklist(p: FieldProps<string[]> & { options: readonly Option<string>[] }) {
  const id = useId()
  const tick = (code: string, on: boolean) =>
    p.onValue(
      p.options
        .map(({ value }) => value)
        .filter((value) => (value === code ? on : p.value.includes(value))),
    )
  const described = [p.hint && `${id}-hint`, p.error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <fieldset class="fld" aria-describedby={described || undefined}>
      <legend>{p.label}</legend>
      {p.options.map(({ value, label }) => (
        <label key={value} class="tick">
          <input
            type="checkbox"
            name={p.name}
            checked={p.value.includes(value)}
            aria-invalid={p.error ? true : undefined}
            onChange={(event) => tick(value, event.currentTarget.checked)}
          />
          <span>{label}</span>
        </label>
      ))}
      {p.hint && (
        <small id={`${id}-hint`} class="hint">
          {p.hint}
        </small>
      )}
      {p.error && (
        <small id={`${id}-error`} class="fault" role="alert">
          {p.error}
        </small>
      )}
    </fieldset>
  )
}
