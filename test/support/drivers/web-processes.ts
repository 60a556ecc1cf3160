/** A service in several web processes, asked over connections of which is known who answers them. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { until } from '#test/support/labs/lab.ts'
import { type Answer, type CallOptions, childrenOf, type Server } from './process.ts'

/** The web processes of a service. */
export const webProcesses = (parent: number): number[] =>
  childrenOf(parent).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('web-process.ts')
    } catch {
      return false
    }
  })

/** The process at the other end of a connection over loopback, of these; undefined before it has accepted it. */
function peerOf({ localPort, remotePort }: Socket, pids: number[]): number | undefined {
  const hex = (port = 0) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .find((one) => one.includes(` ${hex(remotePort)} ${hex(localPort)} `))
  const link = `socket:[${line?.trim().split(/\s+/)[9]}]`
  const has = (pid: number) =>
    readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === link
      } catch {
        return false
      }
    })
  return pids.find(has)
}

/** One connection, kept open: all that is asked over it one process answers. */
export interface Line {
  pid: number
  call(path: string, options?: CallOptions): Promise<Answer>
  close(): void
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const text = Buffer.concat(await response.toArray()).toString('utf8')
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.headers)) headers.append(name, String(value))
  const isJson = headers.get('content-type')?.includes('json')
  const json = isJson ? JSON.parse(text) : undefined
  return { status: response.statusCode ?? 0, headers, text, json }
}

/** Opens a connection, asks for `/healthz` over it, and finds out who answered. */
async function openLine(url: string, pids: number[]): Promise<Line> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let socket: Socket | undefined
  const call = (path: string, { body, ...options }: CallOptions = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const method = options.method ?? (body === undefined ? 'GET' : 'POST')
      const sent = request(url + path, { agent, method, headers: options.headers ?? {} })
      sent.setTimeout(30_000, () => sent.destroy(new Error('no answer in time')))
      sent.on('socket', (own) => {
        socket = own
      })
      sent.on('error', reject)
      sent.on('response', (response) => resolve(answerOf(response)))
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  const health = await call('/healthz')
  const pid = socket && peerOf(socket, pids)
  if (pid === undefined) throw new Error(`nobody has the connection: ${health.status}`)
  return { pid, call, close: () => agent.destroy() }
}

/** A connection to each web process of a service, in the order of their pids. */
export async function openLines({ pid, url }: Pick<Server, 'pid' | 'url'>): Promise<Line[]> {
  const pids = webProcesses(pid)
  const lines = new Map<number, Line>()
  await until('each process has a connection', async () => {
    const line = await openLine(url, pids)
    if (lines.has(line.pid)) line.close()
    else lines.set(line.pid, line)
    return lines.size === pids.length
  })
  return pids.map((one) => lines.get(one) as Line)
}
