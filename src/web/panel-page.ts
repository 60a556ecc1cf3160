/** The page of the panel: a shell that brings colours, what the panel must know, and the address of its script. */
import { sha256 } from '@noble/hashes/sha2.js'
import { raw } from 'hono/html'
import { base64, utf8 } from '#src/lib/encoding.ts'
import { html } from './markup.ts'
import { type Accent, accentsOf, normalHue } from './palette.ts'
import type { PanelEntry, PanelLang } from './panel-files.ts'

/** What the panel reads before any request. It holds no secret: the page is the same for everybody. */
export interface PanelBoot {
  brandName: string
  lang: PanelLang
  /** Whether the page was asked for with a live session. */
  authenticated: boolean
  /** `/{ADMIN_PATH}`: the cookies of theme and language belong to it. */
  basePath: string
  /** What a user's token is appended to. */
  subUrlBase: string
  siteUrl: string
  /** IANA zone that times are shown in. */
  timezone: string
  currency: string
  /** Null without a session: strangers need not know which faults to try. */
  version: string | null
}

export interface PanelPageInput {
  boot: PanelBoot
  brandHue: number
  /** Null: as the system says. */
  theme: 'light' | 'dark' | null
  entry: PanelEntry
}

const NO_SCRIPT: Record<PanelLang, string> = {
  en: 'The panel needs JavaScript.',
  ru: 'Панели нужен JavaScript.',
}

const variables = (accent: Accent) =>
  Object.entries(accent)
    .map(([name, value]) => `--${name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}:${value}`)
    .join(';')

/** The accents of a brand hue, in the light and the dark theme. */
function accentStyle(brandHue: number): string {
  const { light, dark } = accentsOf(normalHue(brandHue))
  return `:root{${variables(light)}}@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${variables(dark)}}}:root[data-theme=dark]{${variables(dark)}}`
}

/** The policy of the panel's page: own files, its one style by hash, no string becomes markup or code. */
export function panelCsp(brandHue: number): string {
  const hash = base64(sha256(utf8(accentStyle(brandHue))))
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'sha256-${hash}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** Answered with `no-cache, must-revalidate`; it shows nothing before login. */
export function panelPage(input: PanelPageInput): string {
  const { boot, entry, theme } = input
  const file = (name: string) => `${boot.basePath}/assets/${name}`
  const head = html`${entry.font && html`<link rel="preload" as="font" type="font/woff2" crossorigin href="${file(entry.font)}">`}${entry.styles.map((name) => html`<link rel="stylesheet" href="${file(name)}">`)}${entry.preloads.map((name) => html`<link rel="modulepreload" href="${file(name)}">`)}<script type="module" src="${file(entry.script)}"></script>`
  const body = html`<div id="panel" data-boot="${JSON.stringify(boot)}"></div><noscript><p>${NO_SCRIPT[boot.lang]}</p></noscript>`
  const document = html`<!doctype html>
<html lang="${boot.lang}"${theme && html` data-theme="${theme}"`}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex,nofollow"><link rel="icon" href="data:,"><title>${boot.brandName}</title><style>${raw(accentStyle(input.brandHue))}</style>${head}</head>
<body>${body}</body></html>
`
  return document.toString()
}
