/** Runs words on a machine that has the node program: here as a child process, or through a root unit's socket. */
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { NodeError } from '#src/lib/errors.ts'
import { asciiLine } from '#src/lib/format.ts'
import { LONGEST_ANSWER } from './answer.ts'

/** Sends the words and the input, and gives what came back on stdout. Throws NodeError `unreachable` or `timeout`. */
export type NodeShell = (words: string[], input: string, timeoutMs: number) => Promise<string>

/** As the node program takes them. Where it runs, an account may have another shell than the forced command, so nothing of one's syntax. */
export const WORD = /^[A-Za-z0-9._:-]{1,200}$/

/** That no answer came in time. */
export const timedOut = (words: string[], timeoutMs: number) =>
  new NodeError(
    'timeout',
    `the node program did not answer "${words[0]}" within ${timeoutMs / 1000} s`,
  )

/** That the program ended with something else than 0; with what it wrote to stderr. */
export const endedWith = (code: number | string | null, complaint: string) =>
  new NodeError(
    'garbage',
    `the node program ended with ${code}: ${asciiLine(complaint.trim(), 300)}`,
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
  return (words, input, timeoutMs) =>
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
      const timer = setTimeout(() => {
        kill()
        reject(timedOut(words, timeoutMs))
      }, timeoutMs)
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
        clearTimeout(timer)
        reject(new NodeError('unreachable', `bash could not be started: ${error.message}`))
      })
      child.on('close', (code) => {
        clearTimeout(timer)
        if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'))
        else reject(endedWith(code, complaint))
      })
      child.stdin.end(input)
    })
}

/** The program behind a unix socket: one connection per call, the words in the first line. */
export function socketShell(path: string): NodeShell {
  return (words, input, timeoutMs) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      const socket = connect({ path, allowHalfOpen: true })
      const timer = setTimeout(() => {
        socket.destroy()
        reject(timedOut(words, timeoutMs))
      }, timeoutMs)
      socket.on('error', (error) => {
        clearTimeout(timer)
        reject(new NodeError('unreachable', `no node program at ${path}: ${error.message}`))
      })
      socket.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > LONGEST_ANSWER) socket.destroy()
        else chunks.push(chunk)
      })
      socket.on('end', () => {
        clearTimeout(timer)
        resolve(Buffer.concat(chunks).toString('utf8'))
        socket.destroy()
      })
      socket.end(`${words.join(' ')}\n${input}`)
    })
}
