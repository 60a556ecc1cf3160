/** What the thread of SSH connections (src/entry/ssh-worker.ts) and the one that answers requests say to each other. */
import { isAscii, isUtf8 } from 'node:buffer'
import { errorCode, errorMessage, NodeError } from '#src/lib/errors.ts'
import type { LEAVE } from '#src/lib/thread.ts'
import type { SshServer } from './ssh-connection.ts'

/** How the thread is started. */
export interface SshSettings {
  /** Whether private addresses are refused (lib/address-policy.ts). */
  denyPrivate: boolean
}

/** A command for a server, which has a shell of this number. */
export interface SshCall {
  type: 'call'
  call: number
  shell: number
  server: SshServer
  command: string
  input: Uint8Array<ArrayBuffer>
  /** The host keys that the node is known by as the call is made. */
  pinned: string[]
}

/** A question of the thread about a node: SshFacts, asked for from afar. */
export type SshFact = { about: 'pinned' | 'privateKey' } | { about: 'admit'; key: string }

/** An error on its way: `failure` is that of a NodeError, null for any other. */
export interface Fault {
  failure: string | null
  message: string
  code: string | undefined
}

/** What the thread hears. */
export type SshOrder =
  | SshCall
  | { type: 'call-off'; call: number }
  | { type: 'close'; shell: number }
  | { type: 'told'; question: number; fact: unknown }
  | { type: 'not-told'; question: number; fault: Fault }
  | { type: 'ping' }
  | typeof LEAVE

/** What it says. */
export type SshReport =
  | { type: 'done'; call: number; answer: PackedText }
  | { type: 'failed'; call: number; fault: Fault }
  | { type: 'question'; question: number; shell: number; fact: SshFact }
  | { type: 'pong' }

/** A text that is unpacked in no time: as bytes of one or of two for each character. */
export interface PackedText {
  bytes: Uint8Array<ArrayBuffer>
  form: 'latin1' | 'utf16le'
}

/** Of more than this nothing but ASCII is understood (answer.ts), and what is no UTF-8 takes a second to read. */
const LONG_BYTES = 64 * 1024

/** Packs UTF-8. What is long and no UTF-8 is taken byte by byte. */
export function packText(bytes: Uint8Array<ArrayBuffer>): PackedText {
  if (isAscii(bytes) || (bytes.length > LONG_BYTES && !isUtf8(bytes))) {
    return { bytes, form: 'latin1' }
  }
  const text = bufferOf(bytes).toString('utf8')
  // A buffer of its own, which can be given away.
  const wide = Buffer.alloc(2 * text.length)
  wide.write(text, 'utf16le')
  return { bytes: new Uint8Array(wide.buffer, wide.byteOffset, wide.length), form: 'utf16le' }
}

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>) =>
  Buffer.from(buffer, byteOffset, length)

export const unpackText = ({ bytes, form }: PackedText): string => bufferOf(bytes).toString(form)

export const packFault = (error: unknown): Fault => ({
  failure: error instanceof NodeError ? error.failure : null,
  message: error instanceof NodeError ? error.message : errorMessage(error),
  code: errorCode(error),
})

/** The error as it was thrown on the other side: a NodeError, or an Error with its code. */
export const unpackFault = ({ failure, message, code }: Fault): Error =>
  failure === null ? Object.assign(new Error(message), { code }) : new NodeError(failure, message)
