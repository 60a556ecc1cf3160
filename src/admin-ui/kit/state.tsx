/** What stands where data is not there: not yet, not at all, or not to be had. */
import type { ComponentChildren } from 'preact'
import type { Query } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'
import { messageOf } from './toast.tsx'

/** Grey lines while data is on its way. */
export const Skeleton = ({ lines = 1, tall = false }: { lines?: number; tall?: boolean }) => (
  <div class="skels" role="status" aria-label={common().loading}>
    {Array.from({ length: lines }, (_, at) => (
      <div key={at} class={tall ? 'skel tall' : 'skel'} />
    ))}
  </div>
)

/** Nothing here, and what to do about it. */
export const Empty = (p: {
  title: string
  hint?: ComponentChildren
  icon?: IconName
  children?: ComponentChildren
}) => (
  <div class="empty">
    {p.icon && (
      <span class="empty-icon">
        <Icon name={p.icon} />
      </span>
    )}
    <b>{p.title}</b>
    {p.hint && <p>{p.hint}</p>}
    {p.children}
  </div>
)

/** A read that failed, in the service's words, with another try. */
export function Failed(p: { error: unknown; retry: () => unknown }) {
  const t = common()
  return (
    <div class="empty" role="alert">
      <span class="empty-icon bad">
        <Icon name="alert" />
      </span>
      <b>{t.loadFailed}</b>
      <p>{messageOf(p.error)}</p>
      <Button icon="refresh" onClick={p.retry}>
        {t.retry}
      </Button>
    </div>
  )
}

/** The answer of a query, or what stands in for it. Old data stays shown while a reload fails. */
export function Loaded<T>(p: {
  query: Query<T>
  /** Lines of the skeleton. */
  lines?: number
  tall?: boolean
  children: (data: T) => ComponentChildren
}) {
  const { data, error, reload } = p.query
  if (data !== undefined) return <>{p.children(data)}</>
  if (error) return <Failed error={error} retry={reload} />
  return <Skeleton lines={p.lines ?? 3} {...(p.tall && { tall: true })} />
}
