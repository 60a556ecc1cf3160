/** The catalogue of client apps: where to get them, and the link that adds a subscription to them. Store links change: they are data. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import type { Settings } from '#src/domain/settings.ts'
import { base64url, utf8 } from '#src/lib/encoding.ts'
import { type App, appCatalogue, type Store, type System } from '#src/settings/app-catalogue.ts'

const FILE = join(import.meta.dirname, '..', '..', '..', 'templates', 'apps.json')

function readFile(): App[] {
  const { apps } = v.parse(
    v.strictObject({ apps: appCatalogue }),
    JSON.parse(readFileSync(FILE, 'utf8')),
  )
  return apps
}

/** The catalogue of templates/apps.json, read and checked at the start. */
export const FILE_APPS: readonly App[] = readFile()

function parseCatalogue(text: string): App[] | null {
  try {
    const result = v.safeParse(appCatalogue, JSON.parse(text))
    return result.success ? result.output : null
  } catch {
    return null
  }
}

/** The catalogue as an admin left it; the file's while no admin has touched it, or where what is stored is none. */
export function readApps(settings: Settings): readonly App[] {
  const text = settings.text('APP_CATALOGUE')
  return (text === '' ? null : parseCatalogue(text)) ?? FILE_APPS
}

export const findApp = (apps: readonly App[], id: string): App | undefined =>
  apps.find((one) => one.id === id)

/** The apps of a system, the recommended one first. */
export const appsOf = (apps: readonly App[], system: System): App[] =>
  apps.filter((one) => one.stores[system])

/** Whether an app can fetch the list of somebody whose devices are limited. */
export const sendsDeviceId = ({ device_id }: App): boolean => device_id !== false

export interface FittingApps {
  apps: readonly App[]
  /** Whether none of them can fetch the list. */
  unfit: boolean
}

/** Those of some apps that work for somebody whose devices are limited or not; all of them where none does. */
export function fittingApps(apps: readonly App[], limited: boolean): FittingApps {
  const fitting = limited ? apps.filter(sendsDeviceId) : apps
  const unfit = fitting.length === 0 && apps.length > 0
  return { apps: unfit ? apps : fitting, unfit }
}

/** What a store is called in a language. */
export function storeLabel({ label: text }: Store, lang: string): string {
  return typeof text === 'string' ? text : (text[lang] ?? text.en ?? Object.values(text)[0] ?? '')
}

/** The link that opens the app and adds the subscription: `happ://add/<sub_url>`. */
export function addLink({ link }: App, subUrl: string): string {
  const url = encodeURI(subUrl)
  return link.replace(/\{(url(?:_encoded|_base64)?)\}/, (_, form) => {
    if (form === 'url_base64') return base64url(utf8(url))
    return form === 'url' ? url : encodeURIComponent(url)
  })
}
