/** Runs tables of scenarios: a world, a request, what must come back, and what must have happened. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Answer } from './answer.ts'
import { type CallOptions, createWorld, type World, type WorldOptions } from './world.ts'

export interface Ask extends CallOptions {
  path: string
  /** Without the admin's session; only paths under /admin/api have it otherwise. */
  anonymous?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: what `given` returns differs from row to row
type Given = any

export interface Scenario {
  /** A sentence that states the outcome first. */
  name: string
  world?: WorldOptions
  /** Prepares the world; what it returns is handed on. */
  given?: (w: World) => Given
  request: Ask | ((given: Given, w: World) => Ask)
  status: number
  /** Exact values, patterns, or null for a header that must be absent. */
  headers?: Record<string, string | RegExp | null>
  /** Exact text, or JSON as `toEqual` compares it. */
  body?: unknown | ((given: Given) => unknown)
  /** Short for the body `{error}`. */
  error?: string | RegExp
  effects?: (w: World, given: Given, answer: Answer) => unknown
}

/** Tables that a refused request may change: it is itself noted there. */
const REFUSALS_ARE_NOTED = ['audit_log', 'login_attempts', 'account_attempts', 'sqlite_sequence']

/** Keys that no answer of the panel may have. */
const SECRETS =
  /"(?:private_?key|provision_?token|password|password_?hash|totp_?secret|secret_?key)"/i

/** What every answer of the service must keep to, whatever was asked. */
export function expectDecent(path: string, answer: Answer): void {
  const { headers, status } = answer
  const type = headers.get('content-type') ?? ''
  expect(headers.get('x-content-type-options'), path).toBe('nosniff')
  expect(headers.get('referrer-policy'), path).toBe('no-referrer')
  expect(headers.get('strict-transport-security'), path).toBe('max-age=31536000')
  if (!type.startsWith('text/plain')) {
    expect(headers.get('content-security-policy'), path).toMatch(/^default-src 'none'/)
    expect(headers.get('content-security-policy'), path).not.toContain('unsafe')
    expect(headers.get('x-frame-options'), path).toBe('DENY')
  }
  if (path.startsWith('/admin/api')) {
    expect(headers.get('cache-control'), path).toBe('private, no-store')
    expect(answer.text).not.toMatch(SECRETS)
  }
  if (status >= 400 && !type.startsWith('text/html')) {
    expect(type).toBe('application/json')
    if (answer.text !== '') {
      const code = status === 403 ? { code: answer.json.code } : {}
      expect(answer.json).toEqual({ error: expect.any(String), ...code })
    }
  }
  expect(headers.get('x-powered-by')).toBeNull()
  expect(headers.get('server')).toBeNull()
}

/** Sends a request as a scenario states it. */
export async function ask(w: World, request: Ask): Promise<Answer> {
  const { path, anonymous, ...options } = request
  const session = path.startsWith('/admin/api') && !anonymous && options.cookie === undefined
  const answer = await (session ? w.admin(path, options) : w.call(path, options))
  await w.s.background.idle()
  return answer
}

function expectHeaders(answer: Answer, headers: Scenario['headers'] = {}): void {
  for (const [name, value] of Object.entries(headers)) {
    const actual = answer.headers.get(name)
    if (value instanceof RegExp) expect(actual, name).toMatch(value)
    else expect(actual, name).toBe(value)
  }
}

function expectBody(answer: Answer, scenario: Scenario, given: Given): void {
  const { body, error } = scenario
  if (typeof error === 'string') expect(answer.json).toEqual({ error })
  if (error instanceof RegExp) expect(answer.json?.error).toMatch(error)
  if (body === undefined) return
  const wanted = typeof body === 'function' ? body(given) : body
  if (typeof wanted === 'string') expect(answer.text).toBe(wanted)
  else expect(answer.json).toEqual(wanted)
}

async function runScenario(w: World, scenario: Scenario): Promise<void> {
  const given = await scenario.given?.(w)
  await w.s.background.idle()
  const { request } = scenario
  const asked = typeof request === 'function' ? request(given, w) : request
  const before = w.dump(...REFUSALS_ARE_NOTED)
  const answer = await ask(w, asked)
  expect(answer.status, answer.text.slice(0, 300)).toBe(scenario.status)
  expectDecent(asked.path, answer)
  expectHeaders(answer, scenario.headers)
  expectBody(answer, scenario, given)
  if (answer.status >= 400) expect(w.dump(...REFUSALS_ARE_NOTED)).toBe(before)
  await scenario.effects?.(w, given, answer)
  expect(w.fatal).toEqual([])
  expect(w.log.filter((line) => line.includes('request failed'))).toEqual([])
}

/** One test per scenario, each in a world of its own. A refused one must have changed nothing. */
export function scenarios(title: string, list: Scenario[], options: WorldOptions = {}): void {
  describe(title, () => {
    let w: World | undefined
    afterEach(() => w?.close())
    test.each(list)('$name', async (scenario) => {
      w = await createWorld({ ...options, ...scenario.world })
      await runScenario(w, scenario)
    })
  })
}
