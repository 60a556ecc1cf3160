/** The activity log's words: whether every action that the sources write down has one. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { expect, test } from 'vitest'
import { logEn } from '#src/admin-ui/i18n/log.en.ts'
import { logRu } from '#src/admin-ui/i18n/log.ru.ts'
import { EVENTS } from '#src/domain/notify/events.ts'

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

const literalsIn = (node: Tree): string[] =>
  [...descendants(node)].flatMap(({ type, value }) =>
    type === 'Literal' && typeof value === 'string' ? [value] : [],
  )

/** `login`, `plan.edit`: an action of the log; those of bulk requests and Xray's rules are words without a dot. */
const ACTION = /^(?:login|[a-z0-9]+\.[a-z-]+)$/
/** What reaches its entry as an argument looks like this wherever it stands. */
const PASSED =
  /^(?:2fa|admin|backup|code|node|password|payment|plan|session|subscription|user)\.[a-z-]+$/
/** Outbound events look alike. */
const EVENT_NAMES = new Set<string>(EVENTS)
const INSERTED = /INSERT INTO audit_log .*'([a-z0-9]+\.[a-z-]+)'/g

function actionsIn(file: string): string[] {
  const source = readFileSync(file, 'utf8')
  const program = parseSync(file, source).program as unknown as Tree
  const named = [...descendants(program)].flatMap((node) =>
    node.type === 'Property' && (node.key as Tree).name === 'action'
      ? literalsIn(node.value as Tree).filter((text) => ACTION.test(text))
      : [],
  )
  const passed = literalsIn(program).filter((text) => PASSED.test(text) && !EVENT_NAMES.has(text))
  return [...named, ...passed, ...Array.from(source.matchAll(INSERTED), (match) => match[1] ?? '')]
}

const files = ['src/domain', 'src/http/admin', 'src/bot', 'db', 'scripts'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
)
const actions = [...new Set(files.flatMap(actionsIn))].sort()

test.each([
  ['English', logEn],
  ['Russian', logRu],
])('the %s log has words for every action', (_name, { actions: words }) => {
  expect(actions).toEqual(
    expect.arrayContaining(['2fa.enable', 'backup.restore', 'login', 'node.register', 'plan.edit']),
  )
  expect(actions.filter((action) => !Object.hasOwn(words, action))).toEqual([])
})

test('the log has no words for what nothing writes down', () => {
  expect(Object.keys(logEn.actions).filter((action) => !actions.includes(action))).toEqual([])
})
