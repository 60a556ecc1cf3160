/** Security headers of pages and of everything else, as objects to spread (OWASP ASVS 5.0, section 3.4). */
import { styleOf } from './styles.ts'

/** `static`: no script at all. `script`: own scripts that fetch nothing. `fetch`: own scripts that ask this origin. */
export type PageKind = 'static' | 'script' | 'fetch'

export interface CspOptions {
  brandHue: number
  kind: PageKind
}

/** The policy of a page made by layout.ts: its one <style> is allowed by hash, nothing inline is. */
export function pageCsp({ brandHue, kind }: CspOptions): string {
  const script = kind === 'static' ? [] : ["script-src 'self'"]
  const connect = kind === 'fetch' ? ["connect-src 'self'"] : []
  // No string becomes markup or code.
  const trustedTypes =
    kind === 'static' ? [] : ["require-trusted-types-for 'script'", "trusted-types 'none'"]
  return [
    "default-src 'none'",
    `style-src ${styleOf(brandHue).source}`,
    "img-src 'self' data:",
    ...script,
    ...connect,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...trustedTypes,
  ].join('; ')
}

const commonHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=()',
} as const

/** For pages that search engines may list: landing, offer, privacy. The policy comes from pageCsp. */
export const indexedPageHeaders: Readonly<Record<string, string>> = commonHeaders

/** For every other page. The policy comes from pageCsp. */
export const pageHeaders: Readonly<Record<string, string>> = {
  ...commonHeaders,
  'X-Robots-Tag': 'noindex',
}

/** For JSON, text, scripts and downloads. */
export const apiHeaders: Readonly<Record<string, string>> = {
  ...commonHeaders,
  'X-Robots-Tag': 'noindex',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
}

/** Strict-Transport-Security, only where the service is reached by https. */
export function transportHeaders(scheme: 'http' | 'https'): Readonly<Record<string, string>> {
  return scheme === 'https' ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}
}
