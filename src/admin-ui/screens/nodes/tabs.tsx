/** The two halves of the screen: servers, and groups of them. */
import { Tabs } from '#src/admin-ui/kit/tabs.tsx'
import { href } from '#src/admin-ui/router.ts'
import { nodeTexts } from './texts.ts'

const PATHS = { servers: '/nodes', groups: '/nodes/groups' }

type Tab = keyof typeof PATHS

export function NodeTabs({ current }: { current: Tab }) {
  const t = nodeTexts()
  return (
    <Tabs
      label={t.title}
      tabs={(Object.keys(PATHS) as Tab[]).map((tab) => ({
        href: href(PATHS[tab]),
        label: t.tabs[tab],
        current: tab === current,
      }))}
    />
  )
}
