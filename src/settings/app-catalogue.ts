/** What a catalogue of client apps must be, whether it comes with the service, from an admin or by a backup. */
import * as v from 'valibot'
import { requiredLine } from '#src/lib/values.ts'

export const SYSTEMS = ['ios', 'android', 'windows', 'macos', 'linux', 'tv'] as const
export type System = (typeof SYSTEMS)[number]

/** Schemes that a link may begin with: those of known client apps (their manifests and documents), none that a browser runs. */
export const APP_SCHEMES = [
  'happ',
  'incy',
  'v2raytun',
  'hiddify',
  'streisand',
  'shadowrocket',
  'sub',
  'sing-box',
  'clash',
  'clashmeta',
  'flclash',
  'flclashx',
  'koala-clash',
  'prizrak-box',
  'stash',
  'karing',
  'v2rayng',
  'v2box',
  'nekobox',
  'throne',
  'exclave',
  'husi',
] as const

/** What the app is to do with the link, in letters alone: no address can begin there, to which the link, which is secret, would go. */
const ACTION = '[a-z-]+(?:/|/?\\?(?:[a-z_]+=[\\w-]*&)*[a-z_]+=)'
const LINK = new RegExp(
  `^(?:${APP_SCHEMES.join('|')})://(?:${ACTION})?\\{url(?:_encoded|_base64)?\\}[^\\s{}"'<>]*$`,
)

const label = v.union(
  [
    requiredLine(40),
    v.record(
      v.pipe(v.string(), v.regex(/^[a-z]{2}$/, 'must be a language of two letters')),
      requiredLine(40),
    ),
  ],
  'must be a text, or a text by language',
)

const stores = v.pipe(
  v.array(
    v.strictObject({
      label,
      url: v.pipe(
        requiredLine(500),
        v.regex(/^https:\/\/[^\s"'<>\\]+$/, 'must be an https address'),
        v.check((text) => URL.canParse(text), 'must be an https address'),
      ),
    }),
    'must be a list of stores',
  ),
  v.minLength(1, 'must have at least 1 store'),
  v.maxLength(4, 'must have at most 4 stores'),
)
const ofSystem = v.exactOptional(stores)

const app = v.strictObject({
  id: v.pipe(
    v.string('must be a string'),
    v.regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 small letters, digits or hyphens'),
  ),
  name: requiredLine(40),
  link: v.pipe(
    v.string('must be a string'),
    v.maxLength(200, 'must have at most 200 characters'),
    v.regex(LINK, 'must be the scheme of a known app with {url}, {url_encoded} or {url_base64}'),
  ),
  stores: v.strictObject({
    ios: ofSystem,
    android: ofSystem,
    windows: ofSystem,
    macos: ofSystem,
    linux: ofSystem,
    tv: ofSystem,
  }),
  /** False for an app that sends no x-hwid; absent for one that does. */
  device_id: v.exactOptional(v.boolean('must be true or false')),
})

/** All apps in the order in which they are offered: the first of a system is the recommended one. */
export const appCatalogue = v.pipe(
  v.array(app, 'must be a list of apps'),
  v.minLength(1, 'must have at least 1 app'),
  v.maxLength(30, 'must have at most 30 apps'),
  v.check(
    (apps) => new Set(apps.map(({ id }) => id)).size === apps.length,
    'must have different ids',
  ),
)

export type App = v.InferOutput<typeof app>
export type Store = v.InferOutput<typeof stores>[number]
