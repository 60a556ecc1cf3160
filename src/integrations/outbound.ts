/** HTTP to addresses that an admin may have set. `node:http`, because `fetch` can't be given the address to connect to. */
import type { IncomingMessage } from 'node:http'
import { isAllowedAddress, literalAddress } from '#src/lib/address-policy.ts'
import { errorCode } from '#src/lib/errors.ts'
import { createGrowingBytes } from '#src/lib/growing-bytes.ts'
import { orAborted } from '#src/lib/pause.ts'
import { areTooMany } from '#src/lib/too-many-pieces.ts'
import type { Outbound, OutboundAnswer } from '#src/ports/outbound.ts'
import {
  ADDRESS_REFUSED,
  addressRefused,
  allowedLookup,
  type OutboundPolicy,
} from './outbound-connect.ts'

/**
 * Node's client of an address, loaded by the first request: an import of `node:http` reads all that it has, for its WebSocket the whole
 * of undici, 30 ms for each thread that knows the gateways and asks nobody.
 */
const clientOf = ({ protocol }: URL) =>
  protocol === 'https:'
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http')

function readAnswer(answer: IncomingMessage, maxBytes: number): Promise<OutboundAnswer> {
  return new Promise((resolve, reject) => {
    const bytes = createGrowingBytes(maxBytes)
    let size = 0
    let pieces = 0
    const end = (complete: boolean) =>
      resolve({
        status: answer.statusCode ?? 0,
        body: bytes.taken(),
        complete,
        retryAfter: answer.headers['retry-after'],
      })
    answer.on('data', (chunk: Buffer) => {
      bytes.add(chunk.subarray(0, maxBytes - size))
      size += chunk.length
      pieces++
      // Node hands on what a stranger made of one read piece by piece, 350,000 of a byte in one turn.
      if (size <= maxBytes && !areTooMany(pieces, size)) return
      end(false)
      answer.destroy()
    })
    answer.on('end', () => end(true))
    answer.on('error', reject)
    answer.on('close', () => reject(new Error('the answer broke off')))
  })
}

/** A sender that keeps to the policy of lib/address-policy.ts. */
export function createOutbound(policy: OutboundPolicy): Outbound {
  const lookup = allowedLookup(policy)
  return ({ method, url: text, headers, body, signal, maxBytes }) => {
    const answered = new Promise<OutboundAnswer>((done, fail) => {
      const url = new URL(text)
      const literal = literalAddress(url)
      if (literal !== null && !isAllowedAddress(literal, policy.denyPrivate)) throw addressRefused()
      const send = clientOf(url).request
      // No kept connection: the next request would reach it without a look-up.
      const sent = send(url, { method, headers: { ...headers }, lookup, agent: false, signal })
      sent.on('response', (answer) => readAnswer(answer, maxBytes).then(done, fail))
      // Asked for by nobody; unheard, the request would end without a word.
      sent.on('upgrade', (_answer, socket) => {
        socket.destroy()
        fail(new Error('the answer is of another protocol'))
      })
      sent.on('error', fail)
      sent.end(body)
    })
    return orAborted(answered, signal)
  }
}

const FAILURES: Record<string, string> = {
  [ADDRESS_REFUSED]: 'the address is not allowed',
  ECONNREFUSED: 'connection refused',
  ConnectionRefused: 'connection refused',
  ECONNRESET: 'the connection was closed',
  ENOTFOUND: 'the host is unknown',
  EAI_AGAIN: 'the host could not be looked up',
  ERR_INVALID_URL: 'the address is no URL',
  ERR_INVALID_CHAR: 'the credentials hold characters that no header may have',
}

/** Why there is no answer; never the error's message, which may name the URL or a header's value. */
export function failureReason(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'no answer in time'
  const code = errorCode(error)
  return code === undefined ? 'no usable answer' : (FAILURES[code] ?? `no connection (${code})`)
}
