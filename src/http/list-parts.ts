/** What lists are made with, one per process. */
import { createUserLists } from '#src/domain/lists/list.ts'
import type { Services } from '#src/services.ts'
import { transportHeaders } from '#src/web/csp.ts'
import { createListFormats } from './client-apps.ts'

export type ListParts = ReturnType<typeof createListParts>

export const createListParts = (s: Services) => ({
  make: createUserLists(s),
  formatFor: createListFormats(),
  headers: {
    ...transportHeaders(s.config.publicScheme),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
  },
})
