/** Loads the screen of a route and draws it. */
import { useEffect, useState } from 'preact/hooks'
import { boot } from '#src/admin-ui/boot.ts'
import { Button, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { Empty, Skeleton } from '#src/admin-ui/kit/state.tsx'
import { href, type Route } from '#src/admin-ui/router.ts'
import { type Screen, screenOf } from '#src/admin-ui/routes.ts'
import { shell } from '#src/admin-ui/texts.ts'

/** What came of loading a part of the panel. */
export type Part<T> = { component: T } | 'loading' | 'failed'

const loaded = new Map<string, unknown>()

/** A part of the panel, loaded once. */
export function usePart<T>(key: string, load: (() => Promise<T>) | undefined): Part<T> {
  const [failed, setFailed] = useState('')
  const [, draw] = useState(0)
  useEffect(() => {
    if (!load || loaded.has(key)) return
    let left = false
    load().then(
      (component) => {
        loaded.set(key, component)
        if (!left) draw((n) => n + 1)
      },
      () => {
        if (!left) setFailed(key)
      },
    )
    return () => {
      left = true
    }
  }, [key])
  const component = loaded.get(key) as T | undefined
  if (component !== undefined) return { component }
  return failed === key ? 'failed' : 'loading'
}

/** A chunk that is gone: the service was updated while the page was open. */
export function PartFailed() {
  const t = shell()
  return (
    <Empty icon="alert" title={t.screenFailed}>
      <Button onClick={() => location.reload()}>{t.reload}</Button>
    </Empty>
  )
}

export function ScreenView({ route }: { route: Route }) {
  const t = shell()
  const entry = screenOf(route)
  const part = usePart<Screen>(entry?.path ?? '', entry?.load)
  const title = entry ? t.screens[entry.title] : t.unknownScreen
  useEffect(() => {
    document.title = `${title} · ${boot.brandName}`
  }, [title])
  if (!entry) {
    return (
      <Empty icon="help" title={t.unknownScreen}>
        <LinkButton href={href('/')}>{t.toOverview}</LinkButton>
      </Empty>
    )
  }
  if (part === 'failed') return <PartFailed />
  if (part === 'loading') return <Skeleton lines={5} tall />
  const { component: Component } = part
  return <Component route={route} />
}
