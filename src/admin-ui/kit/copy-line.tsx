/** A text to take along: a field that can't be changed, with its copy button. */
import { useId } from 'preact/hooks'
import { common } from '#src/admin-ui/texts.ts'
import { CopyButton } from './button.tsx'
import './qr.css'

export function CopyLine({ label, text }: { label: string; text: string }) {
  const id = useId()
  return (
    <div class="copy-line">
      <div class="fld">
        <label for={id}>{label}</label>
        <input
          id={id}
          type="text"
          readOnly
          class="mono"
          value={text}
          onFocus={(event) => event.currentTarget.select()}
        />
      </div>
      <CopyButton text={text} label={`${common().copy}: ${label}`} />
    </div>
  )
}
