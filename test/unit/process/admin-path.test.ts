/** The path of the panel: what it may be, and what becomes of it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'

let cwd: string

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'subpanel-config-'))
})

afterAll(() => rmSync(cwd, { recursive: true }))

const load = (environment: Record<string, string | undefined> = {}) =>
  loadConfig(environment, cwd, GATEWAYS)

describe('ADMIN_PATH', () => {
  test.each([
    ['', 'admin'],
    ['/', 'admin'],
    ['////', 'admin'],
    ['  ', 'admin'],
    ['admin', 'admin'],
    ['/admin/', 'admin'],
    ['//hidden//', 'hidden'],
    ['a/b/c', 'a/b/c'],
    ['A-Z_0~9.x', 'A-Z_0~9.x'],
    ['admin/panel', 'admin/panel'],
    ['admin/apis', 'admin/apis'],
    ['subs', 'subs'],
    ['x/sub', 'x/sub'],
    ['SUB', 'SUB'],
    ['...', '...'],
  ])('%j is %s', (text, path) => {
    expect(load({ ADMIN_PATH: text }).adminPath).toBe(path)
  })

  const RESERVED = ['sub', 'api', 'install', 'nodes', 'payments', 'pay', 'offer', 'privacy']
  RESERVED.push('healthz', 'assets', 'robots.txt', 'favicon.ico', 'cabinet.html')
  RESERVED.push('mgmt-pubkey.txt', 'admin/api')

  test.each(['metrics', 'status', 'tls-allowed', 'rules'])(
    '%s came to be reserved later: who has it keeps it, and is told',
    (path) => {
      for (const text of [path, `/${path}/`, `${path}/x`]) {
        const config = load({ ADMIN_PATH: text })
        expect([config.adminPath, config.coveredPath]).toEqual([text.replace(/^\/|\/$/g, ''), path])
      }
      for (const text of ['', `${path}x`, `x/${path}`, path.toUpperCase()]) {
        expect(load({ ADMIN_PATH: text }).coveredPath).toBeNull()
      }
    },
  )

  test.each(RESERVED)('%s is reserved, and so is what is below it', (path) => {
    for (const text of [path, `/${path}/`, `${path}/x`]) {
      expect(() => load({ ADMIN_PATH: text })).toThrow(
        /^ADMIN_PATH must not begin with the reserved/,
      )
    }
  })

  test.each([
    'a b',
    'a//b',
    'a/../b',
    '..',
    '.',
    'a/.',
    'é',
    'a?b',
    'a#b',
    '%61',
    'a\\b',
    ':a',
    '*',
  ])('%j is refused', (text) => {
    expect(() => load({ ADMIN_PATH: text })).toThrow(/^ADMIN_PATH may hold/)
  })
})
