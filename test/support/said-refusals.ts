/** The texts by which the service refuses, as its sources say them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'

/** Where texts come from that somebody may be answered with. */
const SOURCES = ['src/http', 'src/domain', 'src/lib', 'src/settings', 'src/integrations', 'db']

/** What only clients, buyers, nodes and payment systems ask. */
const NOT_OF_THE_PANEL = [
  /^src\/http\/(?:install|shop|site|sub|webhooks)\.ts$/,
  /^src\/domain\/(?:customers\/(?:devices|linking)|nodes\/install\/registration|payments\/guests)\.ts$/,
]

/** By which refusals come of texts; each takes its text, some after what kind it is. */
const MAKERS = new Set([
  'ApiError',
  'TarError',
  'ArchiveRefused',
  'DecryptionRefused',
  'UploadRefused',
  'refusalOfText',
  'brokenRule',
])

/** What is no refusal, but noted of a node. */
const NOTE = 'NodeError'

/** How the checks of input begin what they say after the name of a field. */
const FAULT = /^(?:must|may|has|is) /
const checksInput = (file: string, source: string) =>
  /^(?:src\/(?:http|domain|settings)\/|(?:src\/lib|db)\/values\.ts$)/.test(file) &&
  source.includes("'valibot'")

/** Said at a start, of the environment. */
const OF_THE_ENVIRONMENT = 'must be a list of apps as JSON'

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

/** A call of one of these, as its arguments. */
function argumentsOf(node: Tree, makers: { has(name: string): boolean }): Tree[] | null {
  const calls = node.type === 'CallExpression' || node.type === 'NewExpression'
  return calls && makers.has(nameOf(node.callee)) ? (node.arguments as Tree[]) : null
}

/** The argument of a maker that is its text. */
function saidBy(node: Tree): Tree | null {
  const given = argumentsOf(node, MAKERS) ?? argumentsOf(node, new Set([NOTE]))
  return (
    given?.[['ApiError', 'brokenRule', NOTE].includes(nameOf(node.callee)) ? 1 : 0] ??
    given?.[0] ??
    null
  )
}

/** What a file says. */
export interface Found {
  /** Texts of refusals; "7" stands for what is put into one. */
  refused: string[]
  /** What is noted of a node. */
  noted: string[]
  /** Codes that are named. */
  codes: string[]
  /** Calls of makers whose text is not in the file, as `file: expression`. */
  unknown: string[]
}

/** What a call of a maker says. */
function readSaid(
  file: string,
  node: Tree,
  said: Tree,
  constants: Map<string, string>,
  found: Found,
) {
  const name = nameOf(said)
  const constant = constants.get(name)
  const texts = constant === undefined ? literalsOf(said) : [...literalsOf(said), constant]
  found[nameOf(node.callee) === NOTE ? 'noted' : 'refused'].push(...texts)
  if (texts.length === 0) found.unknown.push(`${file}: ${name}`)
}

/** The codes that a call names. */
function codesIn(node: Tree): string[] {
  const [code] = argumentsOf(node, new Set(['refusal'])) ?? []
  const [, rule] = argumentsOf(node, new Set(['fieldRefusal'])) ?? []
  const named = code ?? rule
  return named ? literalsOf(named) : []
}

function readSource(file: string, source: string): Found {
  const program = parseSync(file, source).program as unknown as Tree
  const constants = constantsOf(program)
  const faults = checksInput(file, source)
  const found: Found = { refused: [], noted: [], codes: [], unknown: [] }
  for (const node of descendants(program)) {
    const said = saidBy(node)
    if (said) readSaid(file, node, said, constants, found)
    found.codes.push(...codesIn(node))
    const text = faults ? textOf(node) : null
    if (text !== null && text !== OF_THE_ENVIRONMENT && FAULT.test(text)) found.refused.push(text)
  }
  return found
}

/** The sources, and what each says. */
export function readRefusals(): { source: string; ofThePanel: boolean; found: Found }[] {
  return SOURCES.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/^(?:openapi\/|(?:start|kinds)\.ts$)/.test(name))
      .map((name) => join(folder, name)),
  ).map((file) => {
    const source = readFileSync(file, 'utf8')
    const ofThePanel = !NOT_OF_THE_PANEL.some((pattern) => pattern.test(file))
    return { source, ofThePanel, found: readSource(file, source) }
  })
}
