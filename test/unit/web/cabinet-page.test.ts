import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { refusalTexts } from '#src/web/cabinet-page.ts'
import { flagSheet, nodeLabel } from '#src/web/flags.ts'
import { LANGS } from '#src/web/lang.ts'
import { payDonePage } from '#src/web/pay-done-page.ts'
import { stringsOf } from '#src/web/strings.ts'
import { FRAME, HUE } from '#test/support/page-frame.ts'

const PAYMENTS = new URL('../../../src/domain/payments/', import.meta.url)

test('every refusal of the shop that a buyer can meet has words of its own', () => {
  const sale = readFileSync(new URL('sale.ts', PAYMENTS), 'utf8')
  const creation = readFileSync(new URL('create.ts', PAYMENTS), 'utf8')
  const thrown = `${sale}${creation}`.matchAll(/refusal\('([^']+)'/g)
  const words = new Set([...thrown].map(([, code]) => code as string))
  expect(words.size).toBeGreaterThan(8)
  for (const lang of LANGS) {
    expect(Object.keys(refusalTexts(stringsOf(lang))).sort()).toEqual([...words].sort())
  }
})

test('the flags that a script copies are those that pages draw', () => {
  const [, german] = /<span data-country="DE">(.*?)<\/span>/.exec(flagSheet.toString()) ?? []
  expect(german).toMatch(/^<svg /)
  expect(nodeLabel('🇩🇪 Frankfurt').toString()).toBe(`${german} <bdi>Frankfurt</bdi>`)
})

describe('the return from a payment', () => {
  const page = (lang: 'en' | 'ru', botUrl: string | null) =>
    payDonePage({ ...FRAME, lang, brandName: 'A', brandHue: HUE, botUrl })

  test.each([
    ['en', 'As soon as the payment is confirmed'],
    ['ru', 'Как только оплата подтвердится'],
  ] as const)('never says that money has come, and leads to the account, %s', (lang, when) => {
    for (const botUrl of [null, 'https://t.me/some_bot']) {
      expect(page(lang, botUrl)).toContain(when)
      expect(page(lang, botUrl)).toMatch(
        /<a class="btn[^"]*" href="https:\/\/site\.test\/cabinet\.html"/,
      )
    }
    expect(page(lang, 'https://t.me/some_bot')).toContain('href="https://t.me/some_bot"')
  })

  test.each(LANGS)('speaks of no Telegram where there is no bot, %s', (lang) => {
    expect(page(lang, 'https://t.me/some_bot')).toContain('Telegram')
    expect(page(lang, null)).not.toMatch(/Telegram|t\.me|бот\b/)
  })
})
