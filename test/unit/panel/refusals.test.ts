/** The Russian of the service's refusals: whether each that the panel may show has one, as the sources tell. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { describe, expect, test } from 'vitest'
import { refusalsRu } from '#src/admin-ui/i18n/refusals.ru.ts'
import { translated, translator } from '#src/admin-ui/translate.ts'
import { coreRefusal } from '#src/domain/nodes/core-config.ts'
import { SERVER_TAKEN } from '#src/domain/nodes/install/registration.ts'
import { TROUBLE } from '#src/domain/nodes/sync/core-pass.ts'
import { REVIEW } from '#src/domain/payments/rules.ts'

const translate = translator(refusalsRu)

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

  test('keeps the name of the field before it, and what has no other words as it is', () => {
    expect(translated(words, 'port must be a whole number from 1 to 9')).toBe('port: от 1 до 9')
    expect(translated(words, 'apps.0.url must be an https address')).toBe('apps.0.url: адрес https')
    expect(translated(words, 'plan is archived')).toBe('Тариф в архиве')
    expect(translated(words, 'something else')).toBe('something else')
    expect(translated(words, 'Сервис не отвечает')).toBe('Сервис не отвечает')
  })
})

/** Where texts come from that the panel may be answered with. */
const SOURCES = ['src/http', 'src/domain', 'src/lib', 'src/integrations', 'db']

/** What only clients, buyers, nodes and payment systems ask. */
const NOT_OF_THE_PANEL = [
  /^src\/http\/(?:install|shop|site|sub|webhooks)\.ts$/,
  /^src\/http\/openapi\//,
  /^src\/domain\/(?:customers\/devices|nodes\/install\/registration)\.ts$/,
]

/** By which refusals and faults are made; each takes its text, some after what kind it is. */
const MAKERS = new Set([
  'badRequest',
  'unauthorized',
  'forbidden',
  'notFound',
  'unavailable',
  'ApiError',
  'NodeError',
  'TarError',
  'ArchiveRefused',
  'DecryptionRefused',
  'UploadRefused',
])

/** Where a text reaches its maker from elsewhere: from the checks of input, another maker, or a rule that is asked below. */
const HANDED_ON = new Set([
  'src/lib/errors.ts: message',
  'src/http/validate.ts: call',
  'src/integrations/files/archive.ts: error.message',
  'src/integrations/files/data-files.ts: message.message',
  'src/domain/nodes/nodes.ts: refusal',
])

/** How the checks of input begin what they say after the name of a field. */
const FAULT = /^(?:must|may|has|is) /
const checksInput = (file: string, source: string) =>
  /^(?:src\/(?:http|domain)\/|(?:src\/lib|db)\/values\.ts$)/.test(file) &&
  source.includes("'valibot'")

interface Tree {
  type: string
  [key: string]: unknown
}

const isNode = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && typeof (value as Tree).type === 'string'

const childrenOf = (node: Tree): Tree[] => Object.values(node).flat().filter(isNode)

function* descendants(node: Tree): Generator<Tree> {
  yield node
  for (const child of childrenOf(node)) yield* descendants(child)
}

/** The text of a literal; what a template is filled with is a number here. */
function textOf(node: Tree): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  if (node.type !== 'TemplateLiteral') return null
  const parts = node.quasis as { value: { cooked: string } }[]
  return parts.map((part) => part.value.cooked).join('7')
}

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return ''
  if (node.type === 'Identifier') return node.name as string
  if (node.type === 'CallExpression') return 'call'
  if (node.type !== 'MemberExpression') return ''
  return `${nameOf(node.object)}.${nameOf(node.property)}`
}

/** Texts by the names of the constants that hold them. */
function constantsOf(program: Tree): Map<string, string> {
  const constants = new Map<string, string>()
  for (const node of descendants(program)) {
    if (node.type !== 'VariableDeclarator' || !isNode(node.init)) continue
    const text = textOf(node.init)
    if (text !== null) constants.set(nameOf(node.id), text)
  }
  return constants
}

/** What an expression can be: the literals in it, but for those that are put into a text. */
function literalsOf(node: Tree): string[] {
  const text = textOf(node)
  if (text !== null) return [text]
  return node.type === 'CallExpression' ? [] : childrenOf(node).flatMap(literalsOf)
}

/** The argument of a maker that is its text. */
function saidBy(node: Tree): Tree | null {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return null
  const maker = nameOf(node.callee)
  if (!MAKERS.has(maker)) return null
  const [first, second] = node.arguments as Tree[]
  return (['ApiError', 'NodeError'].includes(maker) ? second : first) ?? null
}

function textsOf(file: string): { texts: string[]; unknown: string[] } {
  const source = readFileSync(file, 'utf8')
  const program = parseSync(file, source).program as unknown as Tree
  const constants = constantsOf(program)
  const faults = checksInput(file, source)
  const texts: string[] = []
  const unknown: string[] = []
  for (const node of descendants(program)) {
    const said = saidBy(node)
    if (said) {
      const name = nameOf(said)
      const found = [...literalsOf(said), ...(constants.has(name) ? [constants.get(name)] : [])]
      texts.push(...(found as string[]))
      if (found.length === 0) unknown.push(`${file}: ${name}`)
    }
    const text = faults ? textOf(node) : null
    if (text !== null && FAULT.test(text)) texts.push(text)
  }
  return { texts, unknown }
}

const files = SOURCES.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
)
const answering = files.filter((file) => !NOT_OF_THE_PANEL.some((pattern) => pattern.test(file)))

const found = answering.map(textsOf)
const texts = [...new Set(found.flatMap((one) => one.texts))]

/** The login comes up instead of the first; the other is what a node's program says by itself. */
const AS_THEY_ARE = new Set<string>(['unauthorized', '7: 7'])

describe('the Russian of refusals', () => {
  test('is there for every one that the sources can answer the panel with', () => {
    expect(texts.length).toBeGreaterThan(100)
    expect(texts).toContain('subscription is not held')
    expect(texts).toContain('must be a whole number from 7 to 7')
    const missing = texts.filter(
      (text) => !AS_THEY_ARE.has(text) && translated(translate, text) === text,
    )
    expect(missing).toEqual([])
  })

  test('misses none that is made in a way which this list does not know', () => {
    expect(new Set(found.flatMap((one) => one.unknown))).toEqual(HANDED_ON)
  })

  test('keeps what is put into a text', () => {
    for (const [text, other] of Object.entries(refusalsRu)) {
      const sample = text.replaceAll('{}', '42')
      expect(translate(sample), text).toBe(other.replaceAll('{}', '42'))
    }
  })

  test('is there for what a payment waits for, and for what a node lacks', () => {
    const reasons = [
      ...Object.values({ ...REVIEW, ...TROUBLE, SERVER_TAKEN }),
      `${REVIEW.partly}: 10 of 199`,
    ]
    const missing = reasons.filter((text) => text !== REVIEW.partly && translate(text) === null)
    expect(missing).toEqual([])
  })

  test('is there for what a node’s core can’t serve', () => {
    for (const [shortId, flow] of [
      ['x', ''],
      ['', 'other'],
    ] as const) {
      const refusal = coreRefusal({ kind: 'managed', shortId, flow }) as string
      expect(translated(translate, refusal)).toMatch(/^(?:short_id|flow): [а-я0-9]/)
    }
  })

  test('has nothing that no source says', () => {
    const all = files.map((file) => readFileSync(file, 'utf8')).join('\n')
    const idle = Object.keys(refusalsRu).filter(
      (text) => !all.includes(text.replace(/:? ?\{\}.*/s, '')),
    )
    expect(idle).toEqual([])
  })
})
