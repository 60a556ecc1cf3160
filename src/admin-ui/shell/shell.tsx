/** The frame around a screen: navigation, search, preferences; and what lies over it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { Avatar } from '#src/admin-ui/kit/badge.tsx'
import { IconButton } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { Icon } from '#src/admin-ui/kit/icons.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { href, type Route, useRoute } from '#src/admin-ui/router.ts'
import { GROUPS, SCREENS, type ScreenEntry, screenOf } from '#src/admin-ui/routes.ts'
import { online } from '#src/admin-ui/session.ts'
import { shell } from '#src/admin-ui/texts.ts'
import { Brand } from './brand.tsx'
import { useKeys } from './keys.ts'
import { logOut } from './log-out.ts'
import { Overlays } from './overlays.tsx'
import { Palette } from './palette.tsx'
import { LanguageButton, ThemeButton } from './preferences.tsx'
import { ScreenView } from './screen-view.tsx'

const NavLink = (p: { screen: ScreenEntry; current: boolean; onClick?: () => void }) => (
  <a href={href(p.screen.path)} aria-current={p.current ? 'page' : undefined} onClick={p.onClick}>
    <Icon name={p.screen.icon} />
    <span>{shell().screens[p.screen.title]}</span>
  </a>
)

function Sidebar({ current }: { current: ScreenEntry | undefined }) {
  const t = shell()
  const me = useQuery('me', () => ok(api.me.$get()))
  const name = me.data?.username ?? ''
  return (
    <aside class="side">
      <Brand version />
      <nav class="nav" aria-label={t.navigation}>
        {GROUPS.map((group) => {
          const screens = SCREENS.filter((screen) => screen.group === group)
          return (
            screens.length > 0 && (
              <div key={group}>
                <h2>{t.groups[group]}</h2>
                {screens.map((screen) => (
                  <NavLink key={screen.path} screen={screen} current={screen === current} />
                ))}
              </div>
            )
          )
        })}
      </nav>
      <div class="side-foot">
        <Avatar name={name} />
        <span class="who">{name}</span>
        <IconButton icon="logout" label={t.logout} onClick={logOut} />
      </div>
    </aside>
  )
}

function TopBar({ find }: { find: () => void }) {
  const t = shell()
  return (
    <header class="top">
      <button type="button" class="find" onClick={find}>
        <Icon name="search" />
        <span>{t.find}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div class="space" />
      <LanguageButton />
      <ThemeButton />
    </header>
  )
}

function TabBar(p: { current: ScreenEntry | undefined; more: () => void }) {
  const t = shell()
  const screens = SCREENS.filter((screen) => screen.inTabBar)
  const elsewhere = p.current !== undefined && !screens.includes(p.current)
  return (
    <nav class="tabbar" aria-label={t.navigation}>
      {screens.map((screen) => (
        <NavLink key={screen.path} screen={screen} current={screen === p.current} />
      ))}
      <button type="button" onClick={p.more} aria-current={elsewhere ? 'page' : undefined}>
        <Icon name="dots" />
        <span>{t.more}</span>
      </button>
    </nav>
  )
}

/** All screens, on phones. */
const MoreMenu = (p: { current: ScreenEntry | undefined; close: () => void }) => (
  <Dialog title={shell().navigation} onClose={p.close}>
    <div class="stack">
      <nav class="nav more-nav" aria-label={shell().navigation}>
        {SCREENS.map((screen) => (
          <NavLink
            key={screen.path}
            screen={screen}
            current={screen === p.current}
            onClick={p.close}
          />
        ))}
      </nav>
      <div class="row end">
        <IconButton bordered icon="logout" label={shell().logout} onClick={logOut} />
      </div>
    </div>
  </Dialog>
)

function Shortcuts({ close }: { close: () => void }) {
  const t = shell()
  const keys: [string, string][] = [
    ['Ctrl K', t.shortcutFind],
    ['/', t.shortcutSearch],
    ...SCREENS.flatMap((screen): [string, string][] =>
      screen.letter ? [[`g ${screen.letter}`, t.shortcutGo(t.screens[screen.title])]] : [],
    ),
    ['?', t.shortcutHelp],
    ['Esc', t.shortcutClose],
  ]
  return (
    <Dialog title={t.shortcuts} onClose={close}>
      <dl class="facts shortcuts">
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>{meaning}</dt>
            <dd>
              {key.split(' ').map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

const OfflineBar = () =>
  online.use() ? null : (
    <div class="offline" role="alert">
      <Icon name="offline" />
      {shell().offline}
    </div>
  )

/** The screen's place; takes the focus when another screen comes, so that it is read from its start. */
function Content({ route, children }: { route: Route; children: ComponentChildren }) {
  const ref = useRef<HTMLElement>(null)
  const first = useRef(true)
  useEffect(() => {
    if (first.current) {
      first.current = false
      return
    }
    scrollTo(0, 0)
    ref.current?.focus({ preventScroll: true })
  }, [route.path])
  return (
    <main id="content" class="content" ref={ref} tabIndex={-1}>
      {children}
    </main>
  )
}

type Over = 'palette' | 'more' | 'help' | null

export function Shell() {
  const route = useRoute()
  const current = screenOf(route)
  const [over, setOver] = useState<Over>(null)
  const close = () => setOver(null)
  useKeys({ palette: () => setOver('palette'), help: () => setOver('help') })
  return (
    <>
      <button
        type="button"
        class="btn skip"
        onClick={() => document.getElementById('content')?.focus()}
      >
        {shell().skip}
      </button>
      <div class="shell">
        <Sidebar current={current} />
        <div class="main">
          <OfflineBar />
          <TopBar find={() => setOver('palette')} />
          <Content route={route}>
            <ScreenView route={route} />
          </Content>
        </div>
        <TabBar current={current} more={() => setOver('more')} />
      </div>
      <Overlays route={route} />
      {over === 'palette' && <Palette close={close} />}
      {over === 'more' && <MoreMenu current={current} close={close} />}
      {over === 'help' && <Shortcuts close={close} />}
    </>
  )
}
