import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { setCommands } from '#src/bot/flows.ts'
import { BOT_LANGS, textsOf } from '#src/bot/texts.ts'
import { FILE_APPS } from '#src/domain/lists/apps.ts'
import { plainOfHtml } from '#src/lib/html.ts'
import { SYSTEMS } from '#src/settings/app-catalogue.ts'
import { stringsOf } from '#src/web/strings.ts'
import { addUser, auditOf, nowOf, putSettings } from '#test/support/rows/records.ts'
import { type BotShop, type BotUser, createBotShop } from '#test/support/worlds/bot-user.ts'

let shop: BotShop

let ada: BotUser

beforeEach(async () => {
  shop = await createBotShop()
  ada = shop.user({ id: 1, username: 'ada' })
})

afterEach(() => shop.close())

const t = textsOf('en')

const users = () =>
  shop.w.rows('select tg_id, username, lang, blocked_at from users order by tg_id')

describe('/start', () => {
  test('greets with the brand, and makes a user once', async () => {
    putSettings(shop.w, { BRAND_NAME: '<Aurora> & "Co" 🌌' })
    const hello = await ada.say('/start')
    expect(hello.text).toBe(t.hello('Ada', '<Aurora> & "Co" 🌌'))
    expect(plainOfHtml(hello.text ?? '')).toContain('<Aurora> & "Co" 🌌')
    expect(ada.buttons()).toEqual([t.buy, t.my, t.help, t.cabinet])
    const [{ token }] = shop.w.rows('select token from users')
    expect(shop.telegram.tap(ada.person, ada.last(), t.cabinet)).toBe(
      `https://site.test/cabinet.html#${token}`,
    )
    const before = shop.w.dump()
    await ada.say('/start@shop_bot')
    await ada.say('/start nothing_known')
    expect(ada.last().text).toBe(hello.text)
    expect(shop.w.dump()).toBe(before)
    expect(auditOf(shop.w)).toEqual([])
  })

  test('learns the name that a user has now, their language only once, and that they are back', async () => {
    const token = addUser(shop.w, 1, { blocked_at: nowOf(shop.w) })
    await shop.user({ id: 1, username: 'first', language_code: 'ru-RU' }).say('/start')
    expect(users()).toEqual([{ tg_id: 1, username: 'first', lang: 'ru', blocked_at: null }])
    await shop.user({ id: 1, username: 'second', language_code: 'en' }).say('/start')
    expect(users()).toEqual([{ tg_id: 1, username: 'second', lang: 'ru', blocked_at: null }])
    const { person } = shop.user({ id: 1, language_code: 'en' })
    await shop.user(person).say('/start')
    expect(users()[0].username).toBe(null)
    expect(shop.w.rows('select token from users')).toEqual([{ token }])
  })

  test.each([
    ['ru', 'ru'],
    ['en-GB', 'en'],
    ['de', 'en'],
    ['', 'en'],
  ])('speaks to %j in %s', async (tag, lang) => {
    const user = shop.user({ id: 7, language_code: tag })
    expect((await user.say('/start')).text).toBe(textsOf(lang as 'ru').hello('Ada', 'Subpanel'))
  })

  test('two at once make one user', async () => {
    shop.telegram.say(ada.person, '/start')
    shop.telegram.say(ada.person, '/start')
    await shop.answerAtOnce()
    expect(users()).toHaveLength(1)
    expect(ada.messages()).toHaveLength(2)
  })

  test('a name of any length or none at all is greeted', async () => {
    await shop.user({ id: 2, first_name: '🚀'.repeat(300) }).say('/start')
    await shop.user({ id: 3, first_name: '' }).say('/start')
    expect(shop.telegram.chat(2)).toHaveLength(1)
    expect(shop.telegram.chat(3)).toHaveLength(1)
  })
})

describe('help', () => {
  test.each(BOT_LANGS)('in %s names support, documents and apps of every system', async (lang) => {
    const texts = textsOf(lang)
    putSettings(shop.w, { SUPPORT_CONTACT: '@help & <co>', SUPPORT_EMAIL: 'help@shop.test' })
    addUser(shop.w, 5, { lang })
    const user = shop.user({ id: 5 })
    for (const command of ['/help', '/support', '/paysupport', '/terms']) {
      const said = (await user.say(command)).text ?? ''
      expect(said).toContain('@help &amp; &lt;co&gt;')
      expect(said).toContain('help@shop.test')
      expect(said).toContain(`https://site.test/offer?lang=${lang}`)
      expect(said).toContain(`https://site.test/privacy?lang=${lang}`)
    }
    for (const system of SYSTEMS) {
      const name = stringsOf(lang).systems[system]
      const apps = await user.tap(name)
      expect(apps.text).toBe(texts.apps(name))
      const stores = FILE_APPS.flatMap((app) => app.stores[system] ?? [])
      const urls = (apps.reply_markup?.inline_keyboard.flat() ?? []).flatMap((button) =>
        'url' in button ? [button.url] : [],
      )
      expect(urls).toEqual(stores.map(({ url }) => url))
      await user.tap(texts.back)
    }
  })

  test('names no app that gets no list while devices are limited, unless there is no other', async () => {
    const offered = async () => {
      await ada.say('/help')
      const { text, reply_markup: markup } = await ada.tap('Android')
      const names = markup?.inline_keyboard.flat().flatMap((one) => ('url' in one ? one.text : []))
      return { text, names: names?.join() }
    }
    expect((await offered()).names).toMatch(/Hiddify.*v2rayNG/)
    putSettings(shop.w, { HWID_LIMIT_ENABLED: '1' })
    expect((await offered()).names).toMatch(/^Happ(?!.*(?:Hiddify|v2rayNG))/)
    const silent = FILE_APPS.filter(({ id }) => id === 'hiddify')
    putSettings(shop.w, { APP_CATALOGUE: JSON.stringify(silent) })
    const { text, names } = await offered()
    expect(names).toMatch(/Hiddify/)
    expect(text).toContain(stringsOf('en').noneFits)
  })

  test('switches the language, for later messages too', async () => {
    await ada.say('/help')
    await ada.tap('Русский')
    expect(ada.last().text).toContain(textsOf('ru').helpText)
    expect(ada.buttons()).toContain('• Русский')
    await ada.tap('• Русский')
    expect(users()[0].lang).toBe('ru')
    expect((await ada.say('/start')).text).toBe(textsOf('ru').hello('Ada', 'Subpanel'))
    await ada.tap(textsOf('ru').help)
    await ada.tap('English')
    expect(users()[0].lang).toBe('en')
  })
})

test('a text that Telegram can’t parse is sent once more as plain text', async () => {
  const asked: { text?: string; parse_mode?: string }[] = []
  const { fetch } = globalThis
  globalThis.fetch = (async (input: Request | string, init?: RequestInit) => {
    const body = init?.body ? JSON.parse(String(init.body)) : {}
    if (body.text === undefined) return fetch(input, init)
    asked.push(body)
    if (body.parse_mode === undefined) return fetch(input, init)
    const description = "Bad Request: can't parse entities: Unsupported start tag"
    return Response.json({ ok: false, error_code: 400, description }, { status: 400 })
  }) as typeof globalThis.fetch
  try {
    await ada.say('/start')
  } finally {
    globalThis.fetch = fetch
  }
  expect(asked.map((body) => body.parse_mode)).toEqual(['HTML', undefined])
  expect(ada.last().text).toBe(plainOfHtml(t.hello('Ada', 'Subpanel')))
})

describe('who blocks the bot', () => {
  test('is marked, and no more when they come back; whoever is no user stays none', async () => {
    await ada.say('/start')
    shop.telegram.setBlocked(ada.person, true)
    await shop.answer()
    expect(users()[0].blocked_at).toBe(nowOf(shop.w))
    shop.telegram.setBlocked(ada.person, false)
    await shop.answer()
    expect(users()[0].blocked_at).toBe(null)
    shop.telegram.setBlocked({ id: 8 }, true)
    await shop.answer()
    expect(users()).toHaveLength(1)
  })

  test('while being answered is marked, and nobody is told of a fault', async () => {
    await ada.say('/start')
    shop.telegram.blocked.add(1)
    telegramSay('/help')
    await shop.answer()
    expect(users()[0].blocked_at).not.toBe(null)
  })

  const telegramSay = (text: string) => shop.telegram.say(ada.person, text)
})

test('a fault is said, and thrown on for the log', async () => {
  await ada.say('/start')
  shop.telegram.tap(ada.person, ada.last(), t.my)
  shop.w.change('alter table subscriptions rename to gone')
  await expect(shop.answer()).rejects.toThrow()
  expect(ada.notice()).toBe(t.fault)
  shop.w.change('alter table gone rename to subscriptions')
})

test('a fault of Telegram itself is thrown on', async () => {
  await ada.say('/start')
  shop.telegram.moods.sendMessage = 'html'
  shop.telegram.say(ada.person, '/help')
  await expect(shop.answer()).rejects.toThrow()
  shop.telegram.moods = {}
  expect((await ada.say('/help')).text).toContain(t.helpText)
})

test('the commands are set in every language, those of DEFAULT_LANG for the rest', async () => {
  for (const [lang, brand] of [
    ['ru', 'ru'],
    ['en', 'en'],
    ['xx', 'en'],
  ] as const) {
    shop.telegram.calls.length = 0
    await setCommands(shop.bot, { config: { ...shop.w.config, defaultLang: lang } })
    const set = shop.telegram.callsOf('setMyCommands').map(({ params }) => params)
    expect(set.map(({ language_code }) => language_code)).toEqual([undefined, ...BOT_LANGS])
    for (const { commands, language_code = brand, scope } of set) {
      expect(scope).toEqual({ type: 'all_private_chats' })
      const texts: Record<string, string> = textsOf(language_code).commands
      expect(commands).toEqual(
        Object.entries(texts).map(([command, description]) => ({ command, description })),
      )
    }
  }
})

describe('the catalogue', () => {
  /** Every text, with numbers and short names where it takes something. */
  function plain(lang: (typeof BOT_LANGS)[number]): [string, string][] {
    const flat = (name: string, value: unknown): [string, string][] => {
      if (typeof value === 'string') return [[name, value]]
      if (typeof value === 'function') return []
      return Object.entries(value as object).flatMap(([key, one]) => flat(`${name}.${key}`, one))
    }
    const texts = textsOf(lang)
    return [
      ...flat('', texts),
      ['.tooManyPayments', texts.tooManyPayments(10)],
      ['.deviceLimitReached', texts.deviceLimitReached(24)],
    ]
  }
  /** Those that are longer are messages. */
  const MESSAGES = /^\.(?:resetAsk|failed|chooseNode|paidBefore|list|helpText)$/

  test.each(BOT_LANGS)('%s: notices have at most 200 characters and no markup', (lang) => {
    for (const [name, text] of plain(lang).filter(([key]) => !MESSAGES.test(key))) {
      expect([name, text.length <= 200, /[<>]/.test(text)]).toEqual([name, true, false])
    }
  })
})
