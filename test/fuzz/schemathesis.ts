/** Runs schemathesis, which makes up requests from the description of the API and judges the answers by it. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { findProgram } from '#test/support/drivers/process.ts'

interface Json {
  [key: string]: unknown
}

type Values = Record<string, (string | number)[]>

export interface Fuzz {
  url: string
  /** The session. */
  cookie: string
  document: Json
  /** A folder for the files of the run. */
  dir: string
  seed: number
  /** Made-up requests for each operation; those for every limit of its schemas come on top. */
  examples: number
  /** Ids of operations that are left out. */
  without: string[]
  /** What exists, by the name of a parameter: more than half of the requests ask for it. */
  paths: Values
  queries: Values
  /** What exists, by the name of a field in a body. */
  fields: Values
}

/** Character classes that its generator can't make texts for, as ranges. */
const CLASSES: Record<string, string> = {
  '\\p{Cc}': '\\x00-\\x1f\\x7f-\\x9f',
  '\\p{Cf}':
    '\\xad\\u0600-\\u0605\\u061c\\u06dd\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff',
  // JSON in UTF-8 has no half surrogates.
  '\\p{Cs}': '',
  '\\p{Zl}': '\\u2028',
  '\\p{Zp}': '\\u2029',
}

/** A part of a request's schema with patterns that texts can be made for, and with what exists in the fields. */
function generable(part: unknown, fields: Values): unknown {
  if (Array.isArray(part)) return part.map((one) => generable(one, fields))
  if (typeof part !== 'object' || part === null) return part
  const rewrite = (key: string, value: unknown): unknown => {
    if (key === 'pattern') {
      return String(value).replace(/\\p\{\w+\}/g, (name) => CLASSES[name] ?? name)
    }
    if (key !== 'properties') return generable(value, fields)
    const entries = Object.entries(value as Json).map(([name, schema]) => [
      name,
      fields[name] ? { enum: fields[name] } : generable(schema, fields),
    ])
    return Object.fromEntries(entries)
  }
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, rewrite(key, value)]))
}

/** The document with other parameters and request bodies; answers are judged by it as it is. */
function withGenerableRequests(document: Json, fields: Values): Json {
  const copy = structuredClone(document)
  for (const methods of Object.values(copy.paths as Record<string, Record<string, Json>>)) {
    for (const operation of Object.values(methods)) {
      for (const part of ['parameters', 'requestBody']) {
        if (operation[part]) operation[part] = generable(operation[part], fields)
      }
    }
  }
  return copy
}

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'ignored_auth',
  'unsupported_method',
  'allow_header_conformance',
]

/** A run in which these come up has not tested what it should. */
const UNSIGNED_WARNINGS = ['unsupported_regex', 'unmatched_filter']
const FATAL_WARNINGS = ['missing_auth', ...UNSIGNED_WARNINGS]

/** Addresses of which a gateway signs what it sends. */
const SIGNED_NOTICES = GATEWAYS.flatMap(({ notices = [] }) => notices)
  .filter(({ refusals }) => refusals?.includes(401))
  .map(({ name }) => name)

/** Texts that have been too much for some program, beside what schemas make think of. */
const ODD_TEXTS = [
  '\u00e4',
  '\u{1f4a9}',
  '\u202e',
  "'",
  '"',
  '%',
  '_',
  '*',
  '\\',
  ' ',
  '0',
  '-1',
  '1e400',
]
ODD_TEXTS.push('null', '__proto__', 'constructor', '../..', '%00', '\u0130', 'x'.repeat(300))

/** TOML takes strings, numbers and lists as JSON writes them. */
function configuration({ paths, queries, cookie }: Fuzz): string {
  const words = JSON.stringify
  const lists = Object.entries({ ...paths, ...queries })
  const bindings = [
    ...Object.keys(paths).map((name) => ['path', name]),
    ...Object.keys(queries).map((name) => ['query', name]),
  ]
  return [
    '[auth.openapi.session]',
    `api_key = ${words(cookie)}`,
    '[warnings]',
    `display = ${words(FATAL_WARNINGS)}`,
    `fail-on = ${words(FATAL_WARNINGS)}`,
    '[checks]',
    'enabled = false',
    ...CHECKS.map((name) => `${name} = { enabled = true }`),
    `[dictionaries.odd]\nvalues = ${words(ODD_TEXTS)}`,
    '[generation.dictionaries]',
    'string = { dictionary = "odd", probability = 0.3 }',
    ...lists.map(([name, values]) => `[dictionaries.${name}]\nvalues = ${words(values)}`),
    '[parameters]',
    ...bindings.map(
      ([place, name]) => `"${place}.${name}" = { dictionary = "${name}", probability = 0.6 }`,
    ),
    // PATCH users/bulk is 400, not 405: by the contract any word is a tg_id there, and this one a bad one.
    '[[operations]]',
    'include-operation-id = "post_users_bulk"',
    'checks = { unsupported_method = { enabled = false } }',
    // 503 is what a provider that gives no answer makes of a payment.
    ...['post_payments', 'post_api_cabinet_token_payments'].flatMap((name) => [
      '[[operations]]',
      `include-operation-id = "${name}"`,
      'checks = { not_a_server_error = { expected-statuses = ["2xx", "3xx", "4xx", "503"] } }',
    ]),
    // Nobody makes up a signature: notices that are signed are refused with 401.
    ...SIGNED_NOTICES.flatMap((name) => [
      '[[operations]]',
      `include-operation-id = "post_payments_webhook_${name}"`,
      `warnings = { display = ${words(UNSIGNED_WARNINGS)}, fail-on = ${words(UNSIGNED_WARNINGS)} }`,
    ]),
  ].join('\n')
}

interface Report {
  complete: boolean
  operations: { tested: number }
  test_cases: { generated: number }
  failures: unknown[]
  errors: unknown[]
  valid_rates: Record<string, Record<string, { accepted: number }>>
}

/** What it found: nothing, when it is content. */
export interface Findings {
  code: number | null
  output: string
  /** Requests made. */
  requests: number
  /** Operations that requests were made for. */
  tested: number
  /** Those of them that did what they were asked at least once. */
  accepted: string[]
}

function findings(report: Report, code: number | null, output: string): Findings {
  const accepted = Object.entries(report.valid_rates)
    .filter(([, phases]) => Object.values(phases).some((phase) => phase.accepted > 0))
    .map(([name]) => name)
  const { operations, test_cases: cases } = report
  return { code, output, requests: cases.generated, tested: operations.tested, accepted }
}

/** Runs it to its end, in the environment of nobody. */
export async function runSchemathesis(fuzz: Fuzz): Promise<Findings> {
  const { dir, without } = fuzz
  const config = join(dir, 'schemathesis.toml')
  const document = join(dir, 'openapi.json')
  const report = join(dir, 'report.json')
  writeFileSync(config, configuration(fuzz))
  writeFileSync(document, JSON.stringify(withGenerableRequests(fuzz.document, fuzz.fields)))
  const args = ['--config-file', config, 'run', document, '--url', fuzz.url]
  args.push('--max-examples', String(fuzz.examples), '--seed', String(fuzz.seed))
  args.push('--report', 'json', '--report-json-path', report, '--generation-database', 'none')
  // That many a pattern's texts are thrown away says something of its generator, not of the service.
  args.push('--suppress-health-check', 'filter_too_much')
  args.push('--request-timeout', '20', '--workers', '2', '--continue-on-failure', '--no-color')
  for (const id of without) args.push('--exclude-operation-id', id)
  const child = spawn(findProgram('schemathesis'), args, {
    cwd: dir,
    env: { PATH: process.env.PATH, HOME: dir, PYTHONUTF8: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => chunks.push(String(data)))
  }
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return findings(JSON.parse(readFileSync(report, 'utf8')), code, chunks.join(''))
}
