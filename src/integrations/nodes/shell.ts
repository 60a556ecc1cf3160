/** Runs words on a machine that has the node program: here as a child process, or through a root unit's socket. */
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { NodeError } from '#src/lib/errors.ts'
import { asciiLine } from '#src/lib/format.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { orAborted } from '#src/lib/pause.ts'
import { LONGEST_ANSWER } from './answer.ts'

/** Sends the words and the input, and gives what came back on stdout. Throws NodeError `unreachable` or `timeout`. */
export type NodeShell = (words: string[], input: string, timeoutMs: number) => Promise<string>

/** As the node program takes them. Where it runs, an account may have another shell than the forced command, so nothing of one's syntax. */
export const WORD = /^[A-Za-z0-9._:-]{1,200}$/

/** That no answer came in time. */
const timedOut = (words: string[], timeoutMs: number) =>
  new NodeError(
    'timeout',
    `the node program did not answer "${words[0]}" within ${timeoutMs / 1000} s`,
  )

/**
 * So many programs run on a machine at a time: each is a process, and the start of one here holds up this process. Over SSH, sshd allows
 * 10 sessions on a connection (MaxSessions, sshd_config(5)); what hangs there keeps its one.
 */
const AT_A_TIME = 8

/** One call, which is over when nothing of it runs any more; it is called off by the signal. */
type Call = (words: string[], input: string, signal: AbortSignal) => Promise<string>

/** A shell that runs a few programs at a time; the others wait, which counts as time that they take. */
export function fewAtATime(call: Call): NodeShell {
  const limit = createLimiter(AT_A_TIME)
  return async (words, input, timeoutMs) => {
    const giveUp = new AbortController()
    const timer = setTimeout(() => giveUp.abort(timedOut(words, timeoutMs)), timeoutMs)
    const { signal } = giveUp
    try {
      return await orAborted(
        limit(() => call(words, input, signal), signal),
        signal,
      )
    } finally {
      clearTimeout(timer)
    }
  }
}

/** That the program ended with something else than 0; with what it wrote to stderr. A server names whatever signal it likes. */
export const endedWith = (code: number | string | null, complaint: string) =>
  new NodeError(
    'garbage',
    `the node program ended with ${asciiLine(String(code), 30)}: ${asciiLine(complaint.trim(), 300)}`,
  )

/** Where the program of this machine has its state, its settings, and the tools that it calls. */
export const nodeEnvironment = (
  { directory, conf }: { directory: string; conf: string },
  searchPath: string,
): NodeJS.ProcessEnv => ({
  PATH: searchPath,
  SUBPANEL_NODE_DIR: directory,
  SUBPANEL_NODE_CONF: conf,
})

/** The program as a child of this process. */
export function localShell(
  program: string,
  paths: { directory: string; conf: string },
  searchPath: string,
): NodeShell {
  const run: Call = (words, input, signal) =>
    new Promise((resolve, reject) => {
      const child = spawn('bash', [program, ...words], {
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        env: nodeEnvironment(paths, searchPath),
      })
      const chunks: Buffer[] = []
      let size = 0
      let complaint = ''
      const kill = () => {
        try {
          // The group, because the program's own children may hang.
          if (child.pid) process.kill(-child.pid, 'SIGKILL')
        } catch {
          // It ended meanwhile.
        }
      }
      signal.addEventListener('abort', kill, { once: true })
      child.stdout.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > LONGEST_ANSWER) kill()
        else chunks.push(chunk)
      })
      child.stderr.on('data', (chunk: Buffer) => {
        if (complaint.length < 500) complaint += chunk.toString('utf8')
      })
      child.stdin.on('error', () => {})
      child.on('error', (error) => {
        signal.removeEventListener('abort', kill)
        reject(new NodeError('unreachable', `bash could not be started: ${error.message}`))
      })
      child.on('close', (code) => {
        signal.removeEventListener('abort', kill)
        if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'))
        else reject(endedWith(code, complaint))
      })
      child.stdin.end(input)
    })
  return fewAtATime(run)
}

/** The program behind a unix socket: one connection per call, the words in the first line. */
export function socketShell(path: string): NodeShell {
  const run: Call = (words, input, signal) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      const socket = connect({ path, allowHalfOpen: true })
      const end = () => {
        socket.destroy()
        reject(signal.reason)
      }
      signal.addEventListener('abort', end, { once: true })
      socket.on('error', (error) => {
        reject(new NodeError('unreachable', `no node program at ${path}: ${error.message}`))
      })
      socket.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > LONGEST_ANSWER) socket.destroy()
        else chunks.push(chunk)
      })
      socket.on('end', () => {
        resolve(Buffer.concat(chunks).toString('utf8'))
        socket.destroy()
      })
      socket.on('close', () => {
        signal.removeEventListener('abort', end)
        reject(new NodeError('garbage', `the node program at ${path} broke off its answer`))
      })
      socket.end(`${words.join(' ')}\n${input}`)
    })
  return fewAtATime(run)
}
