/** A choice that narrows a list: a select without a label in sight, its first option being "all". */
import type { Option } from './field.tsx'
import { Icon } from './icons.tsx'

export const FilterSelect = (p: {
  label: string
  /** The option for no choice: `All nodes`. */
  all: string
  value: string
  options: readonly Option<string>[]
  onValue: (value: string) => void
}) => (
  <span class="fld">
    <span class="select">
      <select
        aria-label={p.label}
        value={p.value}
        onChange={(event) => p.onValue(event.currentTarget.value)}
      >
        <option value="">{p.all}</option>
        {p.options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <Icon name="chevronDown" />
    </span>
  </span>
)
