/** What a backup may bring is harmless in every file, command, list and page that is made of it. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findWrongValue } from '#db/upload.ts'
import { GATEWAY_IDS } from '#src/integrations/payments/index.ts'
import { upload } from '#test/support/archives/archives.ts'
import { archiveWith, archiveWithNumber } from '#test/support/archives/hostile-archives.ts'
import { logInTo, restoreInto } from '#test/support/calls/restores.ts'
import { CANARY, HOSTILE_TEXTS } from '#test/support/rows/full-rows.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'

const HWID = { 'x-hwid': 'device-0001' }
const TOKEN = 'token-of-7-'.padEnd(43, 'x')

let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})
afterEach(() => w.close())

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/

/** Lists in the formats that are read as a whole. */
async function expectLists(): Promise<void> {
  const list = async (format: string) => {
    const answer = await w.call(`/sub/${TOKEN}?format=${format}`, { headers: HWID })
    expect([format, answer.status]).toEqual([format, 200])
    return answer.text
  }
  for (const format of ['singbox', 'xray']) {
    const { outbounds } = JSON.parse(await list(format))
    expect(new Set(outbounds.map(({ type, protocol }: never) => type ?? protocol))).not.toContain(
      'shadowsocks',
    )
    expect(outbounds.length).toBeGreaterThan(2)
  }
  // Every text of the profile is a JSON string on its line, every key one of ours.
  const line =
    /^(?: *(?:- )*)?(?:[a-z0-9-]+:|(?:[a-z0-9-]+: )?(?:"(?:[^"\\]|\\.)*"|[\w.-]+|\[\])|(?:Host): "(?:[^"\\]|\\.)*")$/
  expect(
    (await list('mihomo'))
      .trimEnd()
      .split('\n')
      .filter((one) => !line.test(one)),
  ).toEqual([])
  for (const link of (await list('links')).split('\n')) {
    expect(link).toMatch(/^(?:vless|hysteria2):\/\/[\x21-\x7e]+$/)
    expect(link).not.toMatch(/[<>"`\\^{}|]/)
  }
  expect(atob(await list('base64')).split('\n').length).toBeGreaterThan(2)
}

/** Pages hold the text at most as text: the tags of the corpus would stand in them as they are. */
async function expectPages(): Promise<void> {
  const pages = ['/', '/offer', '/privacy', '/pay/done', '/cabinet.html', `/sub/${TOKEN}`]
  for (const path of pages) {
    const { status, text, headers } = await w.call(path, {
      host: 'site.test',
      headers: { accept: 'text/html', 'user-agent': 'Mozilla/5.0' },
    })
    expect([path, status]).toEqual([path, 200])
    expect(text).not.toMatch(/<script>globalThis|<img src=x|<svg\/onload|<iframe|<b onmouseover/)
    expect(text).not.toMatch(/href="javascript:/)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  }
}

async function expectInstallScript(): Promise<void> {
  const { status, text } = await w.call('/install/install-token.sh')
  expect(status).toBe(200)
  execFileSync('bash', ['--norc', '-n'], { input: text })
  // Up to its functions the script is values: evaluating them runs nothing.
  const values = text.slice(0, text.search(/^\w+\(\) \{$/m))
  execFileSync('bash', ['--norc', '-c', values], { cwd: w.dir, env: { PATH: '/usr/bin:/bin' } })
  expect(existsSync(join(w.dir, CANARY))).toBe(false)
}

const ADMIN_LISTS = [
  'users',
  'subscriptions',
  'nodes',
  'plans',
  'payments',
  'gift-codes',
  'events',
  'audit',
  'admins',
  'stats',
]

async function expectAdminLists(cookie: string): Promise<void> {
  for (const path of ADMIN_LISTS) {
    const answer = await w.admin(`/admin/api/${path}`, { cookie })
    expect([path, answer.status]).toEqual([path, 200])
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  }
}

test.each(HOSTILE_TEXTS)('%s', async (_name, text) => {
  const { dropped } = await restoreInto(w, await archiveWith(text))
  expect(dropped).toContain('PROVIDER_B_API_URL')
  await w.s.writeKnownHosts()
  await w.s.nodeSync.syncAll({ force: true, remove: true })
  expect(w.fatal).toEqual([])
  for (const one of w.knownHosts().split('\n').filter(Boolean)) {
    expect(one).toMatch(/^[a-z0-9.:[\]-]+ [a-z0-9@.-]+ [A-Za-z0-9+/]+=*$/)
  }
  await expectLists()
  await expectPages()
  await expectInstallScript()
  const cookie = await logInTo(w)
  await expectAdminLists(cookie)
  const { text: csv } = await w.admin('/admin/api/users?format=csv', { cookie })
  // A number below 0 is no formula.
  expect(csv).not.toMatch(/(?:^|[;\t\r\n]|,")(?:[=+@]|-(?!\d+,))/)
  expect(w.log.filter((one) => CONTROL.test(one.trimEnd()))).toEqual([])
})

/** Writes a row into every table that numbers its rows, and counts one further where something is counted. */
async function goOn(cookie: string): Promise<void> {
  const post = async (path: string, body: unknown) => {
    const { status, text } = await w.admin(`/admin/api/${path}`, { cookie, body })
    expect([path, status], text).toEqual([path, 200])
  }
  putSettings(w, { ADMIN_TG_IDS: '501', WEBHOOK_URL: 'http://127.0.0.1:1/', WEBHOOK_SECRET: 's' })
  await post('admins', { username: 'third', password: 'a long enough password' })
  await post('users/8/grant', { node: 'de1', plan: '1m' })
  await post('plans', { code: 'new', label: 'New', days: 1, price: 1 })
  const reality = { public_key: 'k', short_id: '', sni: 'x.test' }
  await post('nodes', { code: 'new', label: 'New', address: 'new.test', ...reality })
  await post('events/e1/resend', {})
  w.change(`insert into recovery_codes (admin_id, code) values (1, '${'d'.repeat(64)}')`)
  const token = w.rows('select token from users where tg_id = 8')[0].token
  await post('hwid-settings', { enabled: true })
  const answer = await w.call(`/sub/${token}?format=links`, {
    headers: { 'x-hwid': 'device-0002' },
  })
  expect(answer.status).toBe(200)
  await w.s.nodeSync.syncAll({ force: true, remove: true })
}

test.each([0, 2 ** 31, 2 ** 47 + 1, 2 ** 48, Number.MAX_SAFE_INTEGER])(
  '%d in every column that takes it: the service goes on, and what it writes can be restored again',
  async (number) => {
    await restoreInto(w, await archiveWithNumber(number))
    const cookie = await logInTo(w)
    await expectAdminLists(cookie)
    await goOn(cookie)
    expect(findWrongValue(w.s.db.raw, GATEWAY_IDS)).toBeNull()
    expect(w.fatal).toEqual([])
    const { bytes } = await w.admin('/admin/api/backup', { cookie })
    const again = await w.admin('/admin/api/backup/restore', { ...upload(bytes), cookie })
    expect(again.status, again.text).toBe(200)
  },
)
