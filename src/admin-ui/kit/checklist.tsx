/** Some of a few, ticked. */
import { useId } from 'preact/hooks'
import { describedBy, type FieldProps, type Option, Remarks } from './field.tsx'
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
  return (
    <fieldset class="fld" aria-describedby={describedBy(id, p)}>
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
      <Remarks id={id} hint={p.hint} error={p.error} />
    </fieldset>
  )
}
