/** The service's refusals: whether each is declared once, and all that the panel may show is there in Russian, as the sources tell. */
import { describe, expect, test } from 'vitest'
import { refusalsRu } from '#src/admin-ui/i18n/refusals.ru.ts'
import { saidRu } from '#src/admin-ui/i18n/said.ru.ts'
import { translator } from '#src/admin-ui/translate.ts'
import { SERVER_TAKEN } from '#src/domain/nodes/install/registration.ts'
import { TROUBLE } from '#src/domain/nodes/sync/core-pass.ts'
import { REVIEW } from '#src/domain/payments/rules.ts'
import { CutOff, tooBusy, tooLarge, tooMany, tooSlow } from '#src/lib/errors.ts'
import { fieldRefusal, RULES, refusal, refusalOfText, SENTENCES } from '#src/refusals/index.ts'
import { RULES_OF_THE_PANEL } from '#src/refusals/rules.ts'
import { OF_THE_PANEL } from '#src/refusals/sentences.ts'
import { readRefusals } from '#test/support/said-refusals.ts'

const said = translator(saidRu)

describe('a text in other words', () => {
  const words = translator({
    'must be a whole number from {} to {}': 'от {} до {}',
    'must be an https address': 'адрес https',
    'must be an {} address': 'адрес {}',
    'plan is archived': 'Тариф в архиве',
    'holds $& and (.*)': 'скобки',
  })

  test.each([
    ['must be a whole number from 1 to 65535', 'от 1 до 65535'],
    ['must be an https address', 'адрес https'],
    ['must be an https or http address', 'адрес https or http'],
    ['plan is archived', 'Тариф в архиве'],
    ['holds $& and (.*)', 'скобки'],
  ])('%s', (text, expected) => expect(words(text)).toBe(expected))

  test.each(['', 'plan', 'plan is archived!', 'must be a whole number from 1 to ', 'toString'])(
    'is not made up for %j',
    (text) => expect(words(text)).toBeNull(),
  )
})

/** Where a text reaches its maker from elsewhere: from the checks of input, another maker, a descriptor, or a rule that is asked below. */
const HANDED_ON = new Set([
  'src/lib/errors.ts: message',
  'src/http/validate.ts: ',
  'src/http/webhooks.ts: error',
  'src/integrations/files/archive.ts: error.message',
  'src/integrations/files/data-files.ts: message.message',
  'src/integrations/nodes/ssh-words.ts: message',
])

const sources = readRefusals()
const all = sources.map(({ found }) => found)
const ofThePanel = sources.flatMap((one) => (one.ofThePanel ? [one.found] : []))

const declared = { ...SENTENCES, ...RULES }
const shown = { ...OF_THE_PANEL, ...RULES_OF_THE_PANEL }

/** The login comes up instead of the first; the others are said to programs, and to roles that there are none of yet. */
const AS_THEY_ARE = ['unauthorized', 'not-for-tokens', 'not-allowed-for-role']

/** The code of a text that is put together here; "7" stands for what is put into it. */
const codeOf = (text: string) => refusalOfText(text).code as string

const namesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()

describe('a refusal', () => {
  test('is declared, where it is made of a text', () => {
    const texts = all.flatMap(({ refused }) => refused)
    expect(texts.length).toBeGreaterThan(100)
    expect(texts).toContain('must be a whole number from 7 to 7')
    expect(texts).toContain('the archive is cut off')
    expect(texts.filter((text) => codeOf(text) === 'other')).toEqual([])
  })

  test('is made of no text in a way which this list does not know', () => {
    expect(new Set(all.flatMap(({ unknown }) => unknown))).toEqual(HANDED_ON)
  })

  test('has one code for its sentence, and its status', () => {
    const sentences = Object.values(declared).map(({ sentence }) => sentence)
    expect(new Set(sentences).size).toBe(sentences.length)
    expect(Object.keys(declared).length).toBe(
      Object.keys(SENTENCES).length + Object.keys(RULES).length,
    )
    expect(Object.keys(declared).filter((code) => !/^[a-z]+(?:-[a-z]+)*$/.test(code))).toEqual([])
  })

  test('is made somewhere, if it is declared', () => {
    const made = new Set(all.flatMap(({ codes, refused }) => [...codes, ...refused.map(codeOf)]))
    const told = sources.map(({ source }) => source).join('\n')
    // Gateways give sentences, which their route names.
    const idle = Object.entries(declared).filter(
      ([code, { sentence }]) =>
        !made.has(code) && !told.includes(`'${code}'`) && !told.includes(`'${sentence}'`),
    )
    expect(idle.map(([code]) => code)).toEqual([])
  })

  test('of a library is as it is declared', () => {
    for (const made of [tooLarge(), tooSlow(), new CutOff(), tooMany(1), tooBusy()]) {
      expect(declared[made.code as keyof typeof declared]).toEqual({
        status: made.status,
        sentence: made.message,
      })
    }
  })
})

describe('a refusal by name', () => {
  test('has what is put into its sentence beside it', () => {
    expect(refusal('too-many-rows', { most: 5, kind: 'plans' })).toMatchObject({
      status: 400,
      message: 'there can be at most 5 plans',
      code: 'too-many-rows',
      values: { most: '5', kind: 'plans' },
    })
  })

  test('of a field begins with it', () => {
    expect(fieldRefusal('limit', 'above-most', { most: 9 })).toMatchObject({
      status: 400,
      message: 'limit must be a whole number up to 9',
      code: 'above-most',
      values: { most: '9', field: 'limit' },
    })
  })

  test('says how long to wait where there is a want', () => {
    expect(refusal('database-busy').headers).toEqual({ 'Retry-After': '5' })
    expect(refusal('provider-no-answer').after(7.2).headers).toEqual({ 'Retry-After': '8' })
  })

  test.each([
    ['plan is archived', { code: 'plan-archived', values: {} }],
    [
      'that is the host key of the node A: b',
      { code: 'host-key-of-another-node', values: { label: 'A: b' } },
    ],
    [
      'ids.2 must be a whole number from 1 to 9',
      { code: 'not-in-range', values: { field: 'ids.2', least: '1', most: '9' } },
    ],
    ['must be an https address', { code: 'not-https', values: {} }],
    ['a word of a gateway', { code: 'other', values: {} }],
    ['toString', { code: 'other', values: {} }],
  ])('is found by the text %j', (text, expected) => {
    expect(refusalOfText(text)).toMatchObject({ message: text, ...expected })
  })
})

describe('the Russian of refusals', () => {
  test('is there for every one that the panel may be answered with', () => {
    const codes = ofThePanel.flatMap(({ codes, refused }) => [...codes, ...refused.map(codeOf)])
    expect(codes.length).toBeGreaterThan(200)
    expect(
      [...new Set(codes)].filter((code) => !(code in shown) && !AS_THEY_ARE.includes(code)),
    ).toEqual([])
    expect(Object.keys(refusalsRu).sort()).toEqual(Object.keys(shown).sort())
  })

  test('keeps what is put into a sentence', () => {
    for (const [code, { sentence }] of Object.entries(shown)) {
      const other = namesIn(refusalsRu[code as keyof typeof refusalsRu])
      expect(namesIn(sentence), code).toEqual(expect.arrayContaining(other))
    }
  })
})

describe('the Russian of what is noted', () => {
  test('is there for all that is noted of nodes', () => {
    const texts = all.flatMap(({ noted }) => noted)
    expect(texts.length).toBeGreaterThan(10)
    // What a node's program says by itself.
    const own = ['7: 7']
    expect(
      [...new Set(texts)].filter((text) => !own.includes(text) && said(text) === null),
    ).toEqual([])
  })

  test('is there for what a payment waits for, and for what a node lacks', () => {
    const reasons = [
      ...Object.values({ ...REVIEW, ...TROUBLE, SERVER_TAKEN }),
      `${REVIEW.partly}: 10 of 199`,
    ]
    expect(reasons.filter((text) => text !== REVIEW.partly && said(text) === null)).toEqual([])
  })

  test('keeps what is put into a text', () => {
    for (const [text, other] of Object.entries(saidRu)) {
      expect(said(text.replaceAll('{}', '42')), text).toBe(other.replaceAll('{}', '42'))
    }
  })

  test('has nothing that no source says', () => {
    const declarations = Object.values(declared).map(({ sentence }) => sentence)
    const texts = [...sources.map(({ source }) => source), ...declarations].join('\n')
    const idle = Object.keys(saidRu).filter(
      (text) => !texts.includes(text.replace(/:? ?\{\}.*/s, '').replace(/^expires_at /, '')),
    )
    expect(idle).toEqual([])
  })
})
