/**
 * Cores of client apps, which read a list for us: with no rights, files or network, for a short time. docs/lists.md says what is done.
 */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TemplateFormat } from '#db/values.ts'
import type { Config } from '#src/config.ts'
import { cut } from '#src/lib/format.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { SECOND_MS } from '#src/lib/time.ts'
import type { ClientCores } from '#src/ports/client-cores.ts'
import { findProgram } from './nodes/local-node.ts'

interface Program {
  name: string
  /** What it says its version by. */
  version: string[]
  /** What it reads a list from its input by; its own folder is empty. */
  check(folder: string): string[]
}

const PROGRAMS: Record<TemplateFormat, Program> = {
  mihomo: {
    name: 'mihomo',
    version: ['-v'],
    check: (folder) => ['-t', '-d', folder, '-f', '-'],
  },
  singbox: {
    name: 'sing-box',
    version: ['version'],
    check: (folder) => ['check', '--disable-color', '-D', folder, '-c', 'stdin'],
  },
}

const TIMEOUT_MS = 10 * SECOND_MS
const MOST_OUTPUT = 64 * 1024
const MOST_COMPLAINT = 300
/** Each is a process; who would wait longer is told to come again. */
const AT_A_TIME = 1
const WAITING = 10

/** Nobody's number, everywhere. */
const NOBODY = '65534'
const isRoot = process.getuid?.() === 0

/** Without rights, with nothing that it may write, in 2 GB and 10 s of a processor. */
const CONFINED = [
  'setpriv',
  ...(isRoot
    ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--bounding-set=-all']
    : ['--ambient-caps=-all']),
  '--inh-caps=-all',
  '--no-new-privs',
  'prlimit',
  '--fsize=0',
  '--core=0',
  '--as=2147483648',
  '--cpu=10',
]
/** A network of its own, in which there is nothing. */
const ALONE = isRoot ? ['unshare', '--net'] : ['unshare', '--user', '--net']
/** What a core may be run behind, the better first. */
const CONFINEMENTS = [[...ALONE, ...CONFINED], CONFINED]

interface Ended {
  /** Null: it was ended. */
  code: number | null
  output: string
}

/** Runs a program with nothing of our environment; it is ended when it takes too long or says too much. */
const run = (
  words: string[],
  { input, folder, path }: { input: string; folder: string; path: string },
) =>
  new Promise<Ended>((resolve) => {
    const [program = '', ...args] = words
    const child = spawn(program, args, {
      cwd: folder,
      detached: true,
      env: { PATH: path, HOME: folder, TMPDIR: folder },
    })
    let output = ''
    const kill = () => {
      try {
        // The group: what it has started too.
        if (child.pid) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It ended meanwhile.
      }
    }
    const timer = setTimeout(kill, TIMEOUT_MS)
    const end = (code: number | null) => {
      clearTimeout(timer)
      resolve({ code, output })
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.length > MOST_OUTPUT) kill()
      })
    }
    child.stdin.on('error', () => {})
    child.on('error', () => end(null))
    child.on('close', end)
    child.stdin.end(input)
  })

/** The line of a core that says what it does not take: `… level=error msg="…"`, `FATAL[0000] …`. */
function complaintOf({ code, output }: Ended): string {
  if (code === null) return 'it did not come to an end'
  const lines = output.split('\n').filter(Boolean)
  const line = lines.findLast((one) => /level=(?:error|fatal)|\bFATAL\b/.test(one)) ?? lines.at(-1)
  const message = /msg="((?:[^"\\]|\\.)*)"/.exec(line ?? '')?.[1]?.replace(/\\(.)/g, '$1')
  const said = message ?? line?.replace(/^.*?FATAL\[\d+\]\s*/, '') ?? ''
  return (
    cut(said.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim(), MOST_COMPLAINT) || 'it says no reason'
  )
}

export function createClientCores(s: {
  config: Pick<Config, 'coresDir' | 'searchPath'>
}): ClientCores {
  const limit = createLimiter(AT_A_TIME, WAITING)
  const path = s.config.searchPath

  /** The words before a core's: the first that it can be run behind. */
  async function confinement(core: string, version: string[], folder: string) {
    for (const words of CONFINEMENTS) {
      const { code } = await run([...words, core, ...version], { input: '', folder, path })
      if (code === 0) return words
    }
    return null
  }

  async function check(format: TemplateFormat, list: string) {
    const { name, version, check } = PROGRAMS[format]
    const core = findProgram(name, s.config)
    if (core === null) return null
    const folder = mkdtempSync(join(tmpdir(), 'subpanel-check-'))
    // Nobody's to look into, too.
    chmodSync(folder, 0o755)
    try {
      const words = await confinement(core, version, folder)
      if (words === null) return null
      const ended = await run([...words, core, ...check(folder)], { input: list, folder, path })
      return { core: name, complaint: ended.code === 0 ? null : complaintOf(ended) }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return { check: (format, list) => limit(() => check(format, list)) }
}
