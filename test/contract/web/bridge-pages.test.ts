import { expect } from 'vitest'
import { FILE_APPS } from '#src/domain/lists/apps.ts'
import { BROWSER, buyer, NOT_KEPT } from '#test/support/calls/sub-visit.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const open = (app: string) => (token: string) => ({
  path: `/sub/${token}/open/${app}`,
  host: 'sub.test',
  headers: BROWSER,
})

scenarios('GET /sub/{token}/open/{app}', [
  ...FILE_APPS.map(({ id }) => ({
    name: `200 with the link that opens ${id}`,
    given: buyer,
    request: open(id),
    status: 200,
    headers: NOT_KEPT,
    effects: (_w: World, token: string, { text }: { text: string }) => {
      const url = `https://sub.test/sub/${token}`
      expect(text).toMatch(new RegExp(`href="${id}://`))
      expect(text.includes(url) && text.includes('://')).toBe(true)
      expect(text).toContain(`href="${url}"`)
      expect(text).toContain(`href="https://site.test/cabinet.html#${token}"`)
    },
  })),
  ...(
    [
      ['hiddify', '1', true],
      ['hiddify', '0', false],
      ['happ', '1', false],
    ] as const
  ).map(([app, limit, unfit]) => ({
    name: `200 that ${unfit ? 'says' : 'does not say'} that ${app} does not work, limit ${limit}`,
    given: (w: World) => {
      putSettings(w, { HWID_LIMIT_ENABLED: limit })
      return buyer(w)
    },
    request: open(app),
    status: 200,
    effects: (_w: World, _token: string, { text }: { text: string }) => {
      expect(text.includes('does not work with your device limit')).toBe(unfit)
      expect(text).toMatch(unfit ? /"btn wide" href="hiddify:/ : /"btn pri wide" href="h/)
    },
  })),
  { name: '404 for an unknown app', given: buyer, request: open('nope'), status: 404 },
  {
    name: '404 for a name of every object',
    given: buyer,
    request: open('constructor'),
    status: 404,
  },
  { name: '404 for an app in other case', given: buyer, request: open('HAPP'), status: 404 },
  {
    name: '404 for an unknown token',
    request: () => open('happ')('unknown'),
    status: 404,
    headers: { 'content-type': 'text/html; charset=utf-8' },
  },
  {
    name: '404 as JSON for those who ask for no HTML',
    request: { path: '/sub/unknown/open/happ', headers: { 'user-agent': 'Mozilla/5.0' } },
    status: 404,
    error: 'not found',
  },
])
