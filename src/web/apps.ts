/** Client apps by system: where to get them, and the link that adds a subscription to them. Store links change: they are data. */
import type { StringKey } from './strings.ts'

export const SYSTEMS = ['ios', 'android', 'windows', 'macos', 'linux', 'tv'] as const
export type System = (typeof SYSTEMS)[number]

export interface Store {
  /** A name that needs no translation, or the key of one that does. */
  label: string | { key: StringKey }
  url: string
}

export interface App {
  id: string
  name: string
  /** What the link starts with; the subscription URL follows, `encoded` as a query value or as it is. */
  link: { prefix: string; encoded: boolean }
  stores: Partial<Record<System, Store[]>>
}

const HAPP_DESKTOP = 'https://github.com/Happ-proxy/happ-desktop/releases/latest/download'
const INCY = 'https://github.com/INCY-DEV/incy-platforms/releases/latest/download'
const HIDDIFY = 'https://github.com/hiddify/hiddify-app/releases/latest'

const appStore = (id: string): Store => ({
  label: 'App Store',
  url: `https://apps.apple.com/app/${id}`,
})
const googlePlay = (id: string): Store => ({
  label: 'Google Play',
  url: `https://play.google.com/store/apps/details?id=${id}`,
})
const happAppStores: Store[] = [
  appStore('id6504287215'),
  { label: { key: 'appStoreRussia' }, url: 'https://apps.apple.com/ru/app/id6746188973' },
]

/** The first app is the recommended one. */
export const APPS: readonly App[] = [
  {
    id: 'happ',
    name: 'Happ',
    link: { prefix: 'happ://add/', encoded: false },
    stores: {
      ios: happAppStores,
      android: [
        googlePlay('com.happproxy'),
        {
          label: 'APK',
          url: 'https://github.com/Happ-proxy/happ-android/releases/latest/download/Happ.apk',
        },
      ],
      windows: [{ label: 'Windows x64', url: `${HAPP_DESKTOP}/setup-Happ.x64.exe` }],
      macos: [...happAppStores, { label: 'DMG', url: `${HAPP_DESKTOP}/Happ.macOS.universal.dmg` }],
      linux: [
        { label: '.deb', url: `${HAPP_DESKTOP}/Happ.linux.x64.deb` },
        { label: '.rpm', url: `${HAPP_DESKTOP}/Happ.linux.x64.rpm` },
      ],
      tv: [
        { ...googlePlay('com.happproxy'), label: 'Android TV' },
        { ...appStore('id6748297274'), label: 'Apple TV' },
      ],
    },
  },
  {
    id: 'incy',
    name: 'INCY',
    link: { prefix: 'incy://add/', encoded: false },
    stores: {
      ios: [appStore('id6756943388')],
      android: [googlePlay('llc.itdev.incy'), { label: 'APK', url: `${INCY}/Incy.apk` }],
      windows: [{ label: 'Windows', url: `${INCY}/incy-windows-setup.exe` }],
      macos: [appStore('id6756943388')],
      linux: [{ label: '.deb', url: `${INCY}/incy-linux-x64.deb` }],
    },
  },
  {
    id: 'hiddify',
    name: 'Hiddify',
    link: { prefix: 'hiddify://import/', encoded: false },
    stores: {
      ios: [appStore('id6596777532')],
      android: [googlePlay('app.hiddify.com')],
      windows: [{ label: 'GitHub', url: HIDDIFY }],
      macos: [{ label: 'GitHub', url: HIDDIFY }],
      linux: [{ label: 'GitHub', url: HIDDIFY }],
    },
  },
  {
    id: 'streisand',
    name: 'Streisand',
    link: { prefix: 'streisand://import/', encoded: false },
    stores: { ios: [appStore('id6450534064')] },
  },
  {
    id: 'v2rayng',
    name: 'v2rayNG',
    link: { prefix: 'v2rayng://install-config?url=', encoded: true },
    stores: {
      android: [{ label: 'APK', url: 'https://github.com/2dust/v2rayNG/releases/latest' }],
    },
  },
]

export const findApp = (id: string): App | undefined => APPS.find((app) => app.id === id)

export const appsOf = (system: System): App[] => APPS.filter((app) => app.stores[system])

/** The link that opens the app and adds the subscription: `happ://add/<sub_url>`. */
export function addLink(app: App, subUrl: string): string {
  const url = encodeURI(subUrl)
  return app.link.prefix + (app.link.encoded ? encodeURIComponent(url) : url)
}
