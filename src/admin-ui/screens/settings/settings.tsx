/** The settings, in tabs that have addresses. */
import { PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Tabs } from '#src/admin-ui/kit/tabs.tsx'
import { href, type Route } from '#src/admin-ui/router.ts'
import { shell } from '#src/admin-ui/texts.ts'
import { Apps } from './apps.tsx'
import { Devices } from './devices.tsx'
import { Lists } from './lists.tsx'
import { PaymentSettings } from './payments.tsx'
import { Alerts, Bot, Brand, Legal, Receipts } from './shop.tsx'
import { settingsTexts } from './texts.ts'
import { Webhook } from './webhook.tsx'
import './settings.css'

const TABS = {
  brand: Brand,
  bot: Bot,
  payments: PaymentSettings,
  receipts: Receipts,
  legal: Legal,
  devices: Devices,
  apps: Apps,
  lists: Lists,
  webhook: Webhook,
  alerts: Alerts,
}

type Tab = keyof typeof TABS

const isTab = (name: string | undefined): name is Tab => Object.hasOwn(TABS, name ?? '')

export function Settings({ route }: { route: Route }) {
  const t = settingsTexts()
  const asked = route.segments[1]
  const current = isTab(asked) ? asked : 'brand'
  const Content = TABS[current]
  return (
    <>
      <PageHeader title={t.title} sub={t.sub} />
      <Tabs
        label={t.title}
        tabs={(Object.keys(TABS) as Tab[]).map((tab) => ({
          href: href(`/settings/${tab}`),
          label: shell().settings[tab],
          current: tab === current,
        }))}
      />
      <div class="settings">
        <Content key={current} />
      </div>
    </>
  )
}
