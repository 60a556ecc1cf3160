/** The install script's parts, run by bash with stand-ins for the programs of a machine. For tests of systems that no test has. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { ROOT } from './process.ts'

const SCRIPT = readFileSync(join(ROOT, 'templates/install.sh'), 'utf8')
const LAST_LINE = 'main "$@" </dev/null\n'
/** What the parts need of the machine itself, which has more than some stand for. */
const TOOLS = [
  ...['bash', 'grep', 'sha256sum', 'chmod', 'mv', 'cat', 'mkdir', 'sed', 'tr', 'timeout'],
  ...['base64', 'rm', 'tail'],
]

/** Where the machine has a tool. */
export const pathOf = (tool: string) =>
  spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim()
const toolPaths = TOOLS.map((tool) => [tool, pathOf(tool)] as const)

interface Circumstances {
  /** What stands in for parts of the script's text that name the machine itself. */
  machine?: Record<string, string>
  /** What starts bash. */
  by?: string[]
}

/** The script for the tests of a file: each has a folder of its own with the programs that the script finds. */
export function installScript() {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'install-script-'))
    for (const folder of ['bin', 'lib', 'work']) mkdirSync(join(dir, folder))
    for (const [tool, path] of toolPaths) symlinkSync(path, join(dir, 'bin', tool))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))
  /** A path in the folder. */
  const at = (...names: string[]) => join(dir, ...names)

  /** Puts a program in the only folder of PATH, or another one: it notes how it was called, then does `body`. */
  function standIn(name: string, body = '', folder = 'bin') {
    const file = join(dir, folder, name)
    // It may be a link to the machine's own program, which would be written to.
    rmSync(file, { force: true })
    writeFileSync(file, `#!${dir}/bin/bash\necho "${name} $*" >>'${dir}/calls'\n${body}\n`)
    chmodSync(file, 0o755)
  }

  const calls = () =>
    existsSync(join(dir, 'calls'))
      ? readFileSync(join(dir, 'calls'), 'utf8').split('\n').filter(Boolean)
      : []

  /** Runs parts of the script as `main` would, with these values in place of the panel's. */
  function run(
    parts: string,
    values: Record<string, string> = {},
    { machine = {}, by = [] }: Circumstances = {},
  ) {
    expect(SCRIPT.endsWith(LAST_LINE)).toBe(true)
    let own = SCRIPT.slice(0, -LAST_LINE.length)
    const places = { 'LIB=/usr/local/lib/subpanel': `LIB='${dir}/lib'`, ...machine }
    for (const [there, here] of Object.entries(places)) {
      expect(own).toContain(there)
      own = own.replaceAll(there, here)
    }
    const text = own.replaceAll(/\{\{([A-Z0-9_]+)\}\}/g, (_, key: string) => values[key] ?? '')
    const script = `${text}trap 'echo "$REASON"' EXIT\nWORK='${dir}/work' SSH_PORT=2222\n${parts}`
    const [program = '', ...words] = [...by, realpathSync(join(dir, 'bin/bash')), '-c', script]
    const { status, stdout, stderr } = spawnSync(program, words, {
      // Without a socket as stdin, at which bash reads its user's files.
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      env: { PATH: join(dir, 'bin') },
    })
    return { status, reason: stdout.trim(), said: stderr }
  }

  return { at, standIn, calls, run }
}
