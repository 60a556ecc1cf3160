/** What every page of the service is given. */
import type { Lang } from './lang.ts'
import type { ScriptUrls } from './page-scripts.ts'

export interface PageBase {
  lang: Lang
  /** What `?lang=` asked for: own links hand it on. Null where the browser decided. */
  askedLang: Lang | null
  brandName: string
  /** 0 to 359. Must equal the one given to pageCsp. */
  brandHue: number
  /** Where people help, or null. */
  helpUrl: string | null
  /** Origin of the site, without a trailing slash. */
  siteUrl: string
  /** Of the copyright line. */
  year: number
  /** The page's query without its language, for the links to the other languages; empty or `os=tv`. */
  query: string
  /** Null while the scripts are not built. */
  scriptUrls: ScriptUrls | null
}
