/** The screens: where they are, what they are called, how they are loaded: in chunks by area (vite.config.ts). */
import type { ComponentType } from 'preact'
import type { ShellTexts } from './i18n/shell.en.ts'
import type { IconName } from './kit/icons.tsx'
import type { Route } from './router.ts'

export type Screen = ComponentType<{ route: Route }>

/** A drawer that a parameter of the query opens on any screen: `?user=123`. */
export type Overlay = ComponentType<{ id: string; close: () => void }>

export const GROUPS = ['monitor', 'customers', 'sales', 'system'] as const

export interface ScreenEntry {
  /** The first part of its route; what follows (`/settings/brand`) is the screen's own. */
  path: string
  title: keyof ShellTexts['screens']
  icon: IconName
  group: (typeof GROUPS)[number]
  load: () => Promise<Screen>
  /** The letter after `g` that leads here. */
  letter?: string
  /** In the bar at the bottom of phones, which has room for four. */
  inTabBar?: boolean
}

export const SCREENS: readonly ScreenEntry[] = [
  {
    path: '/',
    title: 'overview',
    icon: 'overview',
    group: 'monitor',
    load: () => import('./screens/overview/overview.tsx').then((m) => m.Overview),
    letter: 'o',
    inTabBar: true,
  },
  {
    path: '/traffic',
    title: 'traffic',
    icon: 'traffic',
    group: 'monitor',
    load: () => import('./screens/traffic/traffic.tsx').then((m) => m.Traffic),
  },
  {
    path: '/log',
    title: 'log',
    icon: 'log',
    group: 'monitor',
    load: () => import('./screens/log.tsx').then((m) => m.Log),
  },
  {
    path: '/users',
    title: 'users',
    icon: 'users',
    group: 'customers',
    load: () => import('./screens/users/users.tsx').then((m) => m.Users),
    letter: 'u',
    inTabBar: true,
  },
  {
    path: '/subscriptions',
    title: 'subscriptions',
    icon: 'subscriptions',
    group: 'customers',
    load: () => import('./screens/subscriptions.tsx').then((m) => m.Subscriptions),
  },
  {
    path: '/payments',
    title: 'payments',
    icon: 'payments',
    group: 'sales',
    load: () => import('./screens/payments/payments.tsx').then((m) => m.Payments),
    letter: 'p',
    inTabBar: true,
  },
  {
    path: '/gifts',
    title: 'gifts',
    icon: 'gifts',
    group: 'sales',
    load: () => import('./screens/gifts/gifts.tsx').then((m) => m.Gifts),
  },
  {
    path: '/plans',
    title: 'plans',
    icon: 'plans',
    group: 'sales',
    load: () => import('./screens/plans/plans.tsx').then((m) => m.Plans),
  },
  {
    path: '/nodes',
    title: 'nodes',
    icon: 'nodes',
    group: 'system',
    load: () => import('./screens/nodes/nodes.tsx').then((m) => m.Nodes),
    letter: 'n',
    inTabBar: true,
  },
  {
    path: '/settings',
    title: 'settings',
    icon: 'settings',
    group: 'system',
    load: () => import('./screens/settings/settings.tsx').then((m) => m.Settings),
    letter: 's',
  },
  {
    path: '/admins',
    title: 'admins',
    icon: 'admins',
    group: 'system',
    load: () => import('./screens/admins.tsx').then((m) => m.Admins),
  },
  {
    path: '/security',
    title: 'security',
    icon: 'security',
    group: 'system',
    load: () => import('./screens/security/security.tsx').then((m) => m.Security),
  },
  {
    path: '/backup',
    title: 'backup',
    icon: 'backup',
    group: 'system',
    load: () => import('./screens/backup/backup.tsx').then((m) => m.Backup),
  },
  {
    path: '/api',
    title: 'api',
    icon: 'api',
    group: 'system',
    load: () => import('./screens/api/api.tsx').then((m) => m.ApiReference),
  },
]

export const OVERLAYS: Readonly<Record<string, () => Promise<Overlay>>> = {
  user: () => import('./screens/user-card/user-card.tsx').then((m) => m.UserCard),
}

export const screenOf = (route: Route): ScreenEntry | undefined =>
  SCREENS.find(({ path }) => path === `/${route.segments[0] ?? ''}`)
