/** The brand, as the operator named it. */
import { api, ok } from '#src/admin-ui/api.ts'
import { boot } from '#src/admin-ui/boot.ts'
import { Icon } from '#src/admin-ui/kit/icons.tsx'
import { useQuery } from '#src/admin-ui/query.ts'

/** The version, which a page that was opened without a session does not tell. */
function AskedVersion() {
  const { data } = useQuery('stats', () => ok(api.stats.$get()))
  return <small>{data?.version}</small>
}

export const Brand = (p: { version?: boolean }) => (
  <div class="brand">
    <span class="logo">
      <Icon name="bolt" />
    </span>
    <b>{boot.brandName}</b>
    {p.version && (boot.version === null ? <AskedVersion /> : <small>{boot.version}</small>)}
  </div>
)
