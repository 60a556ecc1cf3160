/** Calls the node program of a server of a lab, verb by verb, and takes its answers as they are. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SoundNode } from '#src/domain/nodes/sound.ts'
import { createLab, type Lab, startTarget, type Target } from '#test/support/labs/lab.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'
import { withHeader } from './node-attacks.ts'
import { managedRow, OWNER } from './node-driver.ts'
import { ROOT } from './process.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of the program are checked field by field
export type Answer = any
type Env = Record<string, string>

export interface NodeCaller {
  call(words: string[], input?: string | Buffer, env?: Env): Promise<Answer>
  configure(parameters: string, env?: Env): Promise<Answer>
  hysteria(parameters: string, env?: Env): Promise<Answer>
  apply(operations: string[][], from?: 'any' | 'none', env?: Env): Promise<Answer>
  /** A file of the program's state. */
  read(name: string): string
  /** Xray's configuration. */
  config(): Answer
}

export function nodeCaller(lab: Lab, server: NodeServer): NodeCaller {
  const program = join(ROOT, 'templates/node-agent.sh')
  const read = (name: string) => readFileSync(join(server.dir, name), 'utf8')
  const call: NodeCaller['call'] = async (words, input = '', env = {}) => {
    const options = { machine: server.machine, input, env: { ...server.env, ...env } }
    const { stdout } = await lab.exec('bash', [program, ...words], options)
    return JSON.parse(stdout)
  }
  return {
    call,
    configure: (parameters, env) => call(['configure'], withHeader(parameters, OWNER), env),
    hysteria: (parameters, env) => call(['hysteria'], withHeader(parameters, OWNER), env),
    apply(operations, from = 'any', env = {}) {
      const header = { owner: OWNER, from, to: '', force: false, lines: operations.length }
      const lines = [header, ...operations].map((line) => `${JSON.stringify(line)}\n`)
      return call(['apply'], lines.join(''), env)
    },
    read,
    config: () => JSON.parse(read('config.json')),
  }
}

/** A server with its target, to be called verb by verb. */
export interface CalledNode {
  lab: Lab
  target: Target
  server: NodeServer
  /** As provisioning makes it, with every transport. */
  row: SoundNode
  node: NodeCaller
}

/** Starts a lab with one server, which was switched on and has been told nothing yet. */
export async function startCalledNode({ hysteria }: { hysteria: boolean }): Promise<CalledNode> {
  const lab = createLab()
  try {
    const target = await startTarget(lab)
    const server = addServer(lab, 1, { hysteria, sni: target.serverName })
    await lab.exec(join(server.dir, '../systemctl'), ['boot'], { machine: server.machine })
    const row = await managedRow(server, target)
    return { lab, target, server, row, node: nodeCaller(lab, server) }
  } catch (error) {
    lab.close()
    throw error
  }
}

const pathOf = (program: string): string | null => {
  try {
    const script = ['-c', `command -v ${program}`]
    return execFileSync('sh', script, { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}

/** The kinds of awk that this machine has. */
export const AWKS = ['gawk', 'mawk', 'busybox'].filter((name) => pathOf(name) !== null)

/** Has the program of a server find one of them as its awk. */
export function envWithAwk(lab: Lab, server: NodeServer, awk: string): Env {
  const folder = join(lab.dir, awk)
  const file = join(folder, 'awk')
  const program = pathOf(awk) as string
  if (!existsSync(file)) {
    mkdirSync(folder)
    if (awk !== 'busybox') symlinkSync(program, file)
    else writeFileSync(file, `#!/bin/sh\nexec ${program} awk "$@"\n`, { mode: 0o755 })
  }
  return { PATH: `${folder}:${server.env.PATH}` }
}
