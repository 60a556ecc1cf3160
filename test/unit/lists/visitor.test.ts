import { describe, expect, test } from 'vitest'
import type { System } from '#src/settings/app-catalogue.ts'
import { dayInWords } from '#src/web/day.ts'
import { nodeLabel, splitFlag } from '#src/web/flags.ts'
import { isInTelegram, isIpad, systemOf } from '#src/web/os.ts'
import { counted } from '#src/web/plural.ts'

const SAFARI = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0'

/** Real agents of browsers. */
const AGENTS: [string, System][] = [
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${SAFARI}`, 'ios'],
  [`Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) ${SAFARI}`, 'ios'],
  [`Mozilla/5.0 (Linux; Android 15; Pixel 9) ${CHROME} Mobile Safari/537.36`, 'android'],
  ['Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 'android'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${CHROME} Safari/537.36`, 'android'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/140.0`, 'windows'],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${CHROME} Safari/537.36`, 'macos'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${CHROME} Safari/537.36`, 'linux'],
  ['Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'linux'],
  [`Mozilla/5.0 (Linux; Android 12; BRAVIA 4K VH2) ${CHROME} Safari/537.36`, 'tv'],
  [`Mozilla/5.0 (Linux; Android 9; AFTMM) ${CHROME} Mobile Safari/537.36`, 'tv'],
  [
    'Mozilla/5.0 (SMART-TV; LINUX; Tizen 7.0) AppleWebKit/537.36 Version/7.0 TV Safari/537.36',
    'tv',
  ],
  [`Mozilla/5.0 (Web0S; Linux/SmartTV) ${CHROME} Safari/537.36`, 'tv'],
  ['', 'android'],
  ['curl/8.5.0', 'android'],
]

describe('the system of a visitor', () => {
  test.each(AGENTS)('of %s is %s', (userAgent, system) => {
    expect(systemOf({ userAgent, platform: null, chosen: null })).toBe(system)
  })

  test('is what the browser hints at, but for a television', () => {
    const linux = `Mozilla/5.0 (X11; Linux x86_64) ${CHROME} Safari/537.36`
    const of = (platform: string, userAgent = linux) =>
      systemOf({ userAgent, platform, chosen: undefined })
    expect(of('"Android"')).toBe('android')
    expect(of('"Windows"')).toBe('windows')
    expect(of('"macOS"')).toBe('macos')
    expect(of('"constructor"')).toBe('linux')
    expect(of('"Unknown"')).toBe('linux')
    expect(of('"Android"', `Mozilla/5.0 (Linux; Android 12; BRAVIA) ${CHROME}`)).toBe('tv')
  })

  test('is what the visitor chose, if that is one', () => {
    const hints = { userAgent: `Mozilla/5.0 (Windows NT 10.0) ${CHROME}`, platform: '"Windows"' }
    expect(systemOf({ ...hints, chosen: 'tv' })).toBe('tv')
    expect(systemOf({ ...hints, chosen: 'beos' })).toBe('windows')
    expect(systemOf({ ...hints, chosen: 'toString' })).toBe('windows')
  })

  test('within Telegram is seen where Telegram says so', () => {
    const agent = `Mozilla/5.0 (Linux; Android 15) ${CHROME} Mobile Safari/537.36`
    expect(isInTelegram(`${agent} Telegram-Android/11.9.0 (Google Pixel 9; Android 15)`)).toBe(true)
    expect(isInTelegram(agent)).toBe(false)
    expect(isInTelegram('TelegramBot (like TwitterBot)')).toBe(false)
    expect(isInTelegram(null)).toBe(false)
  })
})

test('an iPad is known where its browser names it', () => {
  expect(isIpad(`Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) ${SAFARI}`)).toBe(true)
  expect(isIpad(`Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${SAFARI}`)).toBe(false)
  expect(isIpad(undefined)).toBe(false)
})

test.each([
  ['en', 'UTC', '13 December 2026'],
  ['ru', 'UTC', '13 декабря 2026 г.'],
  ['en', 'Asia/Vladivostok', '14 December 2026'],
] as const)('a day in words: %s, %s', (lang, timeZone, text) => {
  const words = dayInWords(lang, timeZone, new Date('2026-12-13T20:00:00Z'))
  expect(words.replace(/\s/g, ' ')).toBe(text)
})

describe('a flag before a label', () => {
  test.each([
    ['🇩🇪 Frankfurt', 'DE', 'Frankfurt'],
    [' 🇳🇱Amsterdam', 'NL', 'Amsterdam'],
    ['🇫🇮', 'FI', 'FI'],
    ['Frankfurt 🇩🇪', null, 'Frankfurt 🇩🇪'],
    ['🇩 half', null, '🇩 half'],
    ['', null, ''],
  ])('of %j is %s', (label, country, text) => {
    expect(splitFlag(label)).toEqual({ country, text })
  })

  test('is drawn, or shown as letters where the drawing is missing', () => {
    expect(nodeLabel('🇩🇪 Frankfurt').toString()).toMatch(
      /^<svg class="flag"[^>]*aria-hidden="true">.*<\/svg> <bdi>Frankfurt<\/bdi>$/,
    )
    expect(nodeLabel('🇸🇪 Oslo').toString().match(/<path/g)).toHaveLength(5)
    expect(nodeLabel('🇿🇼 Harare').toString()).toBe(
      '<span class="flag" aria-hidden="true">ZW</span> <bdi>Harare</bdi>',
    )
    expect(nodeLabel('<b>').toString()).toBe('<bdi>&lt;b&gt;</bdi>')
    expect(nodeLabel('🇩🇪 <b>').toString()).toContain(' <bdi>&lt;b&gt;')
  })
})

test('counted words have the form and the digits of their language', () => {
  const days = counted('fa', { other: 'روز' })
  expect(days.phrase(23)).toBe('۲۳ روز')
  expect(counted('ru', { one: 'день', few: 'дня', other: 'дней' }).phrase(21)).toBe('21 день')
})
