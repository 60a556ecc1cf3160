/** The brand, as the operator named it. */
import { boot } from '#src/admin-ui/boot.ts'
import { Icon } from '#src/admin-ui/kit/icons.tsx'

export const Brand = (p: { version?: boolean }) => (
  <div class="brand">
    <span class="logo">
      <Icon name="bolt" />
    </span>
    <b>{boot.brandName}</b>
    {p.version && <small>{boot.version}</small>}
  </div>
)
