/** What messages say, in both languages, as Telegram takes it. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import type { Alert } from '#src/domain/notify/alert-texts.ts'
import { messageHtml, messageLang } from '#src/domain/notify/messages.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { createTelegram } from '#src/integrations/telegram.ts'
import { silentLog } from '#src/lib/log.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { BOT_TOKEN } from '#test/support/rows/messages.ts'

const telegram = await startFakeTelegram({ [BOT_TOKEN]: 'shop_bot' })
beforeEach(() => telegram.reset())
afterAll(() => telegram.close())

const configOf = (environment: Record<string, string> = {}) =>
  loadConfig(
    { SUB_DOMAIN: 'sub.test', ENV_FILE: '/nonexistent/.env', ...environment },
    '/',
    GATEWAYS,
  )

const HOSTILE = '<b>&amp; "x" </b><script>😀 </pre>'
const granted = (more = {}) => ({
  kind: 'granted',
  payload: {
    node_label: 'Amsterdam',
    plan_label: '30 days',
    expires_at: '2026-03-31T22:30:00',
    ...more,
  },
})
const user = { token: 'T'.repeat(43), lang: 'en' }

const send = (html: string) =>
  createTelegram({ apiUrl: telegram.url, log: silentLog }).sendMessage(BOT_TOKEN, {
    chatId: 7,
    html,
  })

describe('the message of a grant', () => {
  test('names server, plan, the day in TIMEZONE and the link', () => {
    const html = messageHtml({ config: configOf({ TIMEZONE: 'Asia/Tokyo' }) }, granted(), user)
    expect(html).toBe(`✅ <b>Your access is ready</b>

Server: <b>Amsterdam</b>
Plan: <b>30 days</b>, until <b>01.04.2026</b>

Your subscription link. Open it in a browser and follow the steps, or paste it into your app:
https://sub.test/sub/${user.token}`)
  })

  test('has the other day elsewhere, and Russian words for a Russian', () => {
    const html = messageHtml({ config: configOf() }, granted(), { ...user, lang: 'ru' })
    expect(html).toContain('Тариф: <b>30 days</b>, до <b>31.03.2026</b>')
    expect(html).toContain(`https://sub.test/sub/${user.token}`)
  })

  test.each(['en', 'ru'])(
    'shows hostile labels as they are (%s), and Telegram takes it',
    async (lang) => {
      const row = granted({ node_label: HOSTILE, plan_label: HOSTILE })
      const html = messageHtml({ config: configOf() }, row, { ...user, lang }) as string
      expect(html.split('&lt;script&gt;')).toHaveLength(3)
      expect(await send(html)).toEqual({ outcome: 'sent' })
    },
  )

  test('can not be written without its user', () => {
    expect(messageHtml({ config: configOf() }, granted(), undefined)).toBeNull()
  })
})

describe('the message that traffic is used up', () => {
  const used = (more: object) => ({
    kind: 'traffic',
    payload: { node_label: 'A', plan_label: 'B', subscription: 'u', used: 100, left: 0, ...more },
  })
  const textOf = (more: object, lang: string) =>
    messageHtml({ config: configOf() }, used(more), { ...user, lang }) as string

  test.each([
    [{ resets_at: '2026-12-01T00:00:00' }, 'It comes back on 01.12.2026', 'Он вернётся 01.12.2026'],
    [{ resets_at: null }, 'It comes back when you renew', 'Он вернётся после продления'],
  ])('says when it comes back: %j', (more, en, ru) => {
    expect(textOf(more, 'en')).toContain(en)
    expect(textOf(more, 'ru')).toContain(ru)
  })

  test('promises nothing where nothing ends that could be renewed', () => {
    for (const lang of ['en', 'ru']) {
      const text = textOf({ resets_at: null, endless: true }, lang)
      expect(text).not.toMatch(/comes back|верн/)
      expect(text.trim().split('\n').at(-1)).toBe(`https://sub.test/sub/${user.token}`)
    }
    const dated = { resets_at: '2026-12-01T00:00:00', endless: true }
    expect(textOf(dated, 'en')).toContain('It comes back on 01.12.2026')
  })
})

test.each([
  ['ru', 'en', 'ru'],
  ['RU', 'en', 'ru'],
  ['ru-RU', 'en', 'ru'],
  ['en-GB', 'ru', 'en'],
  ['de', 'ru', 'ru'],
  ['de', 'en', 'en'],
  [null, 'ru', 'ru'],
  [undefined, 'en', 'en'],
  ['', 'ru', 'ru'],
])('for %j with DEFAULT_LANG %s it is %s', (tag, fallback, lang) => {
  expect(messageLang(tag, fallback)).toBe(lang)
})

const by = { admin: HOSTILE, ip: '198.51.100.7' }
const ALERTS: Alert[] = [
  { about: 'node-down', node: HOSTILE, reason: HOSTILE },
  { about: 'node-back', node: HOSTILE },
  { about: 'removals-held-back', node: HOSTILE },
  { about: 'server-not-cleaned', node: HOSTILE, address: HOSTILE },
  { about: 'snapshot-failed', reason: HOSTILE },
  { about: 'snapshot-unsound', table: HOSTILE, column: HOSTILE },
  { about: 'disk-low', freePercent: 9 },
  { about: 'host-key-changed', node: HOSTILE },
  { about: 'payment-in-review', payment: HOSTILE, reason: HOSTILE },
  { about: 'restored', ...by },
  { about: 'restored', passphraseTaken: true, ...by },
  { about: 'backup-downloaded', ...by },
  { about: 'admin-created', username: HOSTILE, ...by },
  { about: 'new-address', ...by },
  { about: 'two-factor-off', ...by },
  { about: 'admin-reset', username: HOSTILE, ...by },
  { about: 'session-ended', ...by },
]

describe.each(['en', 'ru'])('alerts in %s', (lang) => {
  const config = configOf({ DEFAULT_LANG: lang })
  test.each(ALERTS)('$about is one that Telegram takes', async (alert) => {
    const html = messageHtml({ config }, { kind: 'alert', payload: { ...alert } }, undefined)
    expect(html).not.toMatch(/undefined|null|<script/)
    expect(html).toMatch(lang === 'ru' ? /[а-я]{3}/ : /^[^а-я]+$/)
    for (const value of Object.values(alert)) {
      if (value === HOSTILE) expect(html).toContain('&lt;script&gt;😀')
    }
    expect(await send(html as string)).toEqual({ outcome: 'sent' })
  })

  test('a reason of any length fits into a message', async () => {
    const payload = { about: 'node-down', node: '&'.repeat(9000), reason: '<'.repeat(9000) }
    const html = messageHtml({ config }, { kind: 'alert', payload }, undefined)
    expect(await send(html as string)).toEqual({ outcome: 'sent' })
  })
})

test('an operator at the machine is named as such', () => {
  const payload = { about: 'restored', admin: null, ip: 'shell' }
  expect(messageHtml({ config: configOf() }, { kind: 'alert', payload }, undefined)).toBe(
    '🚨 A backup was restored (shell)',
  )
})

test.each(['en', 'ru'])('a reason makes no line and no link of its own: %s', async (lang) => {
  const reason = 'a\r\n\u2028🚨 Node\u202ex\u0085is https://evil.test/ @evil'
  for (const about of ['node-down', 'snapshot-failed', 'payment-in-review']) {
    const row = { kind: 'alert', payload: { about, node: 'de1', payment: 'p1', reason } }
    const html = messageHtml({ config: configOf() }, row, { ...user, lang }) as string
    expect(html).toContain('<code>a 🚨 Node x is https://evil.test/ @evil</code>')
    expect(html.split('\n')).toHaveLength(about === 'payment-in-review' ? 2 : 1)
    expect(await send(html)).toEqual({ outcome: 'sent' })
  }
})

test('a long reason of an alert is cut between characters: Telegram takes no half one', () => {
  const payload = { about: 'node-down', node: 'de1', reason: `${'a'.repeat(299)}😀` }
  const text = messageHtml({ config: configOf() }, { kind: 'alert', payload }, undefined)
  expect(text?.isWellFormed()).toBe(true)
})
