/** Links from page to page of the service. */
import type { PageBase } from './page-base.ts'

type Asked = Pick<PageBase, 'askedLang'>

/** An address of ours in the language that the page was asked for in by `?lang=`; a fragment stays last. */
export function inAskedLang({ askedLang }: Asked, url: string): string {
  if (askedLang === null) return url
  const [address, ...fragment] = url.split(/(?=#)/)
  return `${address}?lang=${askedLang}${fragment.join('')}`
}

/** A path of the site as such an address. */
export const siteLink = (base: Asked & Pick<PageBase, 'siteUrl'>, path: string): string =>
  inAskedLang(base, base.siteUrl + path)
