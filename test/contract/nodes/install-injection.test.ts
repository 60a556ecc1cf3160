import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fillScript } from '#src/domain/nodes/install/script.ts'
import { addNode, inSeconds } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const dir = mkdtempSync(join(tmpdir(), 'install-injection-'))
afterAll(() => rmSync(dir, { recursive: true }))

/** Every one of these would leave a file where a shell took it for more than text. */
const CANARY = join(dir, 'canary')
const CORPUS = [
  `'; touch ${CANARY}; '`,
  `"; touch ${CANARY}; "`,
  `$(touch ${CANARY})`,
  `\`touch ${CANARY}\``,
  `\${IFS}touch\${IFS}${CANARY}`,
  `'$(touch ${CANARY})'`,
  `'\\''$(touch ${CANARY})'\\''`,
  `\\'; touch ${CANARY}; #`,
  `x\ntouch ${CANARY}\n`,
  `x' \\\n; touch ${CANARY} #`,
  `x\r\ntouch ${CANARY}`,
  `&& touch ${CANARY}`,
  `| touch ${CANARY}`,
  `>${CANARY}`,
  '-rf',
  '--replace',
  '-e',
  '%s%n',
  '\\x27',
  '!!',
  '*',
  '~',
  '{{TOKEN}}',
  "'{{TOKEN}}'",
  '$&$1$`',
  'ünïcödé ☃ \u202e 🇳🇱',
  '\u0001\u007f',
  '',
]

const SHELLS = ['sh', 'bash']

/** Stand-ins for what the command line calls; they note what they are told and given. */
const stubs = join(dir, 'stubs')
execFileSync('mkdir', [stubs])
for (const name of ['curl', 'apt-get']) {
  const path = join(stubs, name)
  writeFileSync(
    path,
    `#!/bin/sh\n{ printf '%s\\n' "$@"; cat; } >>'${dir}/called'\necho 'echo "$0 ran"'\n`,
  )
  chmodSync(path, 0o755)
}

const run = (shell: string, script: string) =>
  execFileSync(shell, ['-c', script], {
    encoding: 'utf8',
    env: { PATH: `${stubs}:/usr/bin:/bin`, HOME: dir },
    cwd: dir,
  })

describe.each(SHELLS)('%s', (shell) => {
  test.each(CORPUS)('takes %j for the text that it is', (text) => {
    const script = fillScript("readonly VALUE='{{VALUE}}' OTHER='{{OTHER}}'\n", {
      VALUE: text,
      OTHER: 'other',
    })
    // printf, because an echo would make something of backslashes; the dot keeps newlines at the end.
    expect(run(shell, `${script}printf '%s.%s' "$VALUE" "$OTHER"`)).toBe(`${text}.other`)
    expect(existsSync(CANARY)).toBe(false)
  })
})

test('a placeholder that nobody fills is no script', () => {
  expect(() => fillScript("X='{{MISSING}}'", {})).toThrow('MISSING')
})

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

const TOKEN = 'T'.repeat(43)
const guided = (body: object) =>
  w.admin('/admin/api/nodes/provision-guide', {
    body: { label: 'x', address: 'nl.test', ...body },
  })

describe('from the guide', () => {
  test.each(CORPUS)(
    '%j as a label is refused, or the command and the script are harmless',
    async (label) => {
      const { status, json } = await guided({ label })
      if (status === 400) return
      expect(json.code).toMatch(/^[a-z0-9][a-z0-9-]{0,23}$/)
      const [, path] = /panel\.test(\/install\/[\w-]+\.sh)'/.exec(json.command) ?? []
      const { text } = await w.call(path as string)
      expect(text).not.toContain(CANARY)
      for (const shell of SHELLS) {
        expect(run(shell, json.command)).toBe('bash ran\n')
        expect(readFileSync(join(dir, 'called'), 'utf8').split('\n').at(-2)).toBe(
          `url=https://panel.test${path}`,
        )
      }
      expect(existsSync(CANARY)).toBe(false)
    },
  )

  test.each(CORPUS.filter((text) => text.trim() !== ''))(
    '%j is refused as an address and as an SNI',
    async (text) => {
      expect((await guided({ address: text })).status).toBe(400)
      expect((await guided({ sni: text })).status).toBe(400)
    },
  )
})

describe('from a row that no rule has seen', () => {
  test.each(CORPUS)('%j in all its texts makes no script', async (text) => {
    addNode(w, `c${text}`, {
      ...{ kind: 'managed', label: text, address: text, sni: text, private_key: text },
      ...{ provision_token: TOKEN, provision_expires_at: inSeconds(w, 60), provisioning: 'first' },
      transports_json: JSON.stringify([
        { type: 'ws', port: 8443, path: text },
        { type: 'hysteria2', port: 443 },
      ]),
      hysteria_password: text || 'x',
      hysteria_obfs_password: text,
    })
    const answer = await w.call(`/install/${TOKEN}.sh`)
    expect(answer).toMatchObject({ status: 500, json: { error: 'internal error' } })
    expect(existsSync(CANARY)).toBe(false)
  })
})
