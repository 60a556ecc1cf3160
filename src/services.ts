/** Types only: what a process is made of, and what outside systems must offer it. */
import type { Database } from '#db/open.ts'
import type { ReadInput, ReadName, ReadResult } from '#db/reads.ts'
import type { Node, Payment, RetiredNode } from '#db/schema.ts'
import type { WrongValue } from '#db/upload.ts'
import type { Config } from './config.ts'
import type { Background } from './lib/background.ts'
import type { Batch } from './lib/batch.ts'
import type { Clock } from './lib/clock.ts'
import type { Arch } from './lib/elf.ts'
import type { Limiter } from './lib/limiter.ts'
import type { Log } from './lib/log.ts'
import type { PassphraseKey } from './lib/passphrase-key.ts'
import type { SingleFlight } from './lib/single-flight.ts'
import type { Created, PaymentGateways, PaymentState } from './payment-gateway.ts'

export type { ReadInput, ReadName, ReadResult } from '#db/reads.ts'
export type {
  AuditedGateway,
  Created,
  Order,
  PaymentGateway,
  PaymentGateways,
  PaymentState,
  Refund,
  ShopCredentials,
  SucceededPayment,
} from './payment-gateway.ts'

export interface Services {
  config: Config
  db: Database
  reads: Reads
  clock: Clock
  log: Log
  background: Background
  cores: Cores
  nodeSync: NodeSync
  /** Puts the pinned host keys of all nodes into `known_hosts`, table and file: call it after a commit that concerns them. Never throws. */
  writeKnownHosts(): Promise<void>
  /** Whether something listens at an address; false after `timeoutMs`. */
  dial: (address: string, port: number, timeoutMs: number) => Promise<boolean>
  telegram: Telegram
  providerA: ProviderA
  cryptobot: Cryptobot
  eventSender: EventSender
  /** Sends what waits in `events` or `outbox`: call it after a commit that wrote there. Returns at once. */
  nudge(queue: Queue): void
  /** Begins no more of what `nudge` asks for; `background` has what is under way. */
  endSending(): void
  /** The share of the data folder's disk that is free, 0 to 1. */
  freeDiskShare(): number
  gateways: PaymentGateways
  /** Questions about payments that are under way, by payment: who asks meanwhile shares the answer. */
  paymentChecks: SingleFlight<PaymentState>
  /** Payments that are being asked of a provider, in the same way. */
  paymentCreations: SingleFlight<Completion>
  /** Password hashes: as many at a time as there are cores but one, at most 4. */
  hashing: Limiter
  /** The same for logins of whom nobody knows, who wait in a line of their own. */
  strangersHashing: Limiter
  /** Ids of known devices that fetched a list, written together after the answers. */
  seenDevices: Batch<number>
  installFiles: InstallFiles
  dataFiles: DataFiles
  snapshots: Snapshots
  /** INSTANCE_ID as it is now: whose clients the nodes hold. A restore changes it. */
  instanceId(): string
  /** Ends the process with code 70 when the error means that the database can't be trusted any more; else does nothing. */
  fatal(error: unknown): void
}

/** Reads that may take long, one after another in a thread of their own, so that none holds requests up. */
export interface Reads {
  /**
   * What a read of db/reads.ts gives. Throws 503 when too many wait, when its turn or its answer takes too long, and when the thread
   * is gone. A fault of the database keeps its code.
   */
  ask<K extends ReadName>(name: K, ...input: ReadInput<K>): Promise<ReadResult<K>>
  /** The same for somebody who may go away: what has not had its turn when `gone` is aborted is never read. */
  for(gone: AbortSignal): Reads
  /** Ends the thread and refuses all further questions. Resolves when it is gone, which is when its statement has ended. */
  close(): Promise<void>
}

/** What became of asking a provider for a payment: its row with the link, or why there is none. */
export type Completion = { payment: Payment } | Exclude<Created, { outcome: 'created' }>

/** `unreachable`: no connection, no answer in time, or none that the system itself would give. */
export type CredentialCheck = 'accepted' | 'rejected' | 'unreachable'

/** The messaging platform. Calls never throw. */
export interface Telegram {
  /** Whose token it is: the identity call, bounded to 10 s. */
  identify(token: string): Promise<{ username: string } | 'rejected' | 'unreachable'>
  /** Sends a text in Telegram's HTML, without a preview of its links, with its buttons below one another; at most 10 s. */
  sendMessage(
    token: string,
    message: { chatId: number; html: string; buttons?: LinkButton[] },
  ): Promise<SendOutcome>
}

/** A button under a message that opens a web address. */
export interface LinkButton {
  text: string
  url: string
}

export type SendOutcome =
  | { outcome: 'sent' }
  /** The user does not want to hear of the bot, or is gone. */
  | { outcome: 'blocked'; reason: string }
  /** Not delivered, and never will be. */
  | { outcome: 'refused'; reason: string }
  /** Surely not delivered: may be tried again, with `retryAfterMs` not before that, nor anything else. */
  | { outcome: 'later'; reason: string; retryAfterMs: number | null }
  /** The token is no bot's any more. Not delivered. */
  | { outcome: 'rejected' }
  /** Nobody knows whether it was delivered. */
  | { outcome: 'unknown'; reason: string }

/** What waits to be sent: outbound events, bot messages. */
export type Queue = 'events' | 'messages'

/** Who gets outbound events. */
export interface WebhookReceiver {
  url: string
  /** WEBHOOK_SECRET as it is stored; its UTF-8 bytes are the key. */
  secret: string
}

export interface WebhookRequest extends WebhookReceiver {
  id: string
  event: string
  /** The signed bytes are the sent bytes. */
  body: string
  at: Date
}

export interface WebhookResult {
  /** Null: no answer. */
  httpStatus: number | null
  /** Null: accepted. */
  error: string | null
}

/** The receiver of outbound events. */
export interface EventSender {
  /** Makes one attempt; at most 10 s. Never throws. */
  send(request: WebhookRequest): Promise<WebhookResult>
}

/** Payment provider A. Calls never throw. */
export interface ProviderA {
  /** Asks the provider whether it knows the pair; at most 10 s. */
  check(shopId: string, secretKey: string): Promise<CredentialCheck>
}

/** Crypto Pay. Calls never throw. */
export interface Cryptobot {
  /** Asks whose token it is; at most 10 s. */
  check(token: string): Promise<CredentialCheck>
}

export interface RestoreRequest {
  at: Date
  admin: string | null
  ip: string
  /** The session that asks: nothing happens once it has ended. Null for the operator's script. */
  sessionId: number | null
  /** What opens the archive; null when nothing was given. */
  passphrase: string | null
  /** What those are told who were alerted before it (domain/messages.ts). */
  message: { kind: string; payload: object }
}

export interface RestoreOutcome {
  restoredEnv: boolean
  /** Settings of the backup that were not taken. */
  dropped: string[]
  /** Changed settings that count from the next start. */
  restartNeeded: string[]
  /** Settings of this machine's env file that stay as they are because the backup's lacks them. */
  kept: string[]
  safetyCopies: string[]
  /** Paid payments that the backup does not know. */
  reviews: number
  /** Whether backups are encrypted from now on, to the passphrase of this one: it had one, and this machine none. */
  passphraseTaken: boolean
  /** The Telegram ids of those who were alerted before the restore: they are told of it already. */
  alerted: number[]
  /** Who was sent events of restores before this one; null where nobody was. */
  formerReceiver: WebhookReceiver | null
}

export type { WrongValue }

/** Database and env file as a whole: packed, and put back. The work is done in a thread of its own. */
export interface DataFiles {
  /** An archive of this moment, packed as it is read, and encrypted where there is a key. Resolves when the database is copied. */
  pack(at: Date, key: PassphraseKey | null): Promise<ReadableStream<Uint8Array>>
  /**
   * The same as the new file `path`, safe from a power cut when it is there. With `check` its rows are read as a restore would read
   * them: gives the first value that would be refused, null where there is none.
   */
  packInto(
    path: string,
    at: Date,
    key: PassphraseKey | null,
    check: boolean,
  ): Promise<WrongValue | null>
  /**
   * Runs `work` with the path of an archive that `receive` writes piece by piece, and with what `receive` gives; the file is removed
   * afterwards.
   */
  withUpload<R, T>(
    receive: (write: (bytes: Uint8Array) => Promise<void>) => Promise<R>,
    work: (archive: string, received: R) => Promise<T>,
  ): Promise<T>
  /** Puts an archive's rows and settings in place of the present ones. Throws 400 for a bad one; then nothing has changed. */
  restore(archive: string, request: RestoreRequest): Promise<RestoreOutcome>
}

export interface SnapshotFile {
  name: string
  bytes: number
}

/** The folder of the hourly snapshots. */
export interface Snapshots {
  list(): SnapshotFile[]
  /**
   * Writes an archive of this moment into the folder, encrypted where there is a key. `check` as in `packInto`. Throws when there is
   * too little space for it.
   */
  make(
    name: string,
    at: Date,
    key: PassphraseKey | null,
    check: boolean,
  ): Promise<WrongValue | null>
  remove(name: string): void
  /** What is left on the disk. */
  freeBytes(): number
  /** Runs the operator's command for a snapshot; null when it succeeded, else the reason. Never throws. */
  copy(name: string, command: string): Promise<string | null>
}

/** The programs that a managed node runs. */
export type CoreProgram = 'xray' | 'hysteria'

/** What a managed node is made of. */
export interface InstallFiles {
  /** The install script with its placeholders, and the scripts that it puts in place. */
  scripts(): { install: string; agent: string; hysteriaAuth: string }
  /** SHA-256 of the program for such machines, hex, computed from the file itself; null when there is none. */
  digest(program: CoreProgram, arch: Arch): Promise<string | null>
  /** The program itself; null when there is none. */
  open(
    program: CoreProgram,
    arch: Arch,
  ): Promise<{ bytes: number; stream: ReadableStream<Uint8Array> } | null>
}

/**
 * Clients of a core by uuid; the value is the rest of the client's line (docs/node-program.md): the group (node code) whose inbounds
 * they may use, with the client's Hysteria2 password behind a space where the node has Hysteria2, in the form of its program.
 */
export type ClientMap = Map<string, string>

export interface CoreStatus {
  /** The number of the node program's verbs and forms (docs/node-program.md). */
  program: number
  owner: string
  /** SHA-256 of the text that was given by `configure`; empty before the first one. */
  config: string
  /** SHA-256 of the sorted lines of clients. */
  clients: string
  count: number
  /** Whether the running core holds exactly these clients. */
  live: boolean
  core: { up: boolean; version: string | null; uptimeS: number | null; epoch: string | null }
  reading: string
  counters: Counters
  /** Hysteria beside the core, with counters of its own; null where the node has none. */
  hysteria: { config: string; up: boolean; epoch: string | null; counters: Counters } | null
}

/** Absolute bytes since a core's start. */
export type Counters = [uuid: string, up: number, down: number][]

export interface ApplyRequest {
  owner: string
  from: string
  to: string
  force: boolean
  add: [uuid: string, value: string][]
  remove: string[]
}

export interface ApplyResult {
  clients: string
  added: number
  removed: number
  live: boolean
  dropped: number
}

export interface HostMetrics {
  memTotalMb: number
  memUsedMb: number
  uptimeS: number
  load1: number
  cpuCount: number
  coreVersion: string | null
  coreUp: boolean
  /** Null where the node has no Hysteria. */
  hysteriaUp: boolean | null
  clients: number
}

/** The node program of one machine (docs/node-program.md). Every call ends in time or throws NodeError. */
export interface NodeProgram {
  status(acknowledge: string, timeoutMs: number): Promise<CoreStatus>
  /** All clients, or those of these blocks; a block is named by the two digits that its UUIDs begin with. Blocks need program 2. */
  list(blocks?: string[]): Promise<{ clients: string; lines: [uuid: string, value: string][] }>
  /** The SHA-256 of the lines of each block, 00 to ff, empty for an empty one. Needs program 2. */
  blocks(): Promise<{ clients: string; count: number; blocks: string[] }>
  apply(request: ApplyRequest): Promise<ApplyResult>
  /** Gives the core what it is to run: parameters, or the whole configuration for program 1. */
  configure(owner: string, text: string): Promise<void>
  /** The same for Hysteria; an empty text ends it. */
  hysteria(owner: string, text: string): Promise<void>
  /** Takes everybody's access away and stops the cores. */
  retire(owner: string, timeoutMs: number): Promise<void>
  metrics(timeoutMs: number): Promise<HostMetrics>
}

/** One proxy core: the local one serves all nodes of kind 'local', every managed node has its own. */
export interface Core {
  /** `local`, or the code of a managed node. */
  name: string
  program: NodeProgram
  /** The last wanted revision that was worked out, of how many clients, and the hash of all that it was made of. */
  known: { revision: string; count: number; made: string } | null
}

export interface Cores {
  /** The core of a node; null for external nodes, for managed ones before their first activation, and while the local node is off. */
  of(node: Node): Core | null
  /** Ends the connection to a node that is gone, or is another server from now on. */
  forget(code: string): void
  /** The node program on the server of a deleted node. */
  retired(node: RetiredNode): NodeProgram
  /** Ends all connections. */
  close(): void
}

export interface NodeSyncResult {
  code: string
  ok: boolean
  added: number
  removed: number
  error: string | null
}

export interface PassOptions {
  /** Past the removal brake. */
  force: boolean
  remove: boolean
  only?: string[]
  timeoutMs?: number
}

/** Keeps the clients of every core equal to the active subscriptions. */
export interface NodeSync {
  /** Puts these clients right on their nodes. True when all of them are in place; false within `timeoutMs` otherwise. */
  touch(subscriptions: { uuid: string; node: string }[], timeoutMs?: number): Promise<boolean>
  /**
   * One pass over all nodes, or over the cores of the nodes `only`: configuration, clients, traffic. Cores are passed side by side.
   * What takes a core longer than `timeoutMs` goes on, and its nodes are told as not done.
   */
  syncAll(options: PassOptions): Promise<NodeSyncResult[]>
  /** Begins a pass over each core that is known to be behind and whose time to be tried again has come. */
  retryBehind(options: { remove: boolean }): void
  /** Reads the counters of every core, bounded in time. */
  readTraffic(timeoutMs: number): Promise<void>
  /** Reads one node's core now; false when it did not answer. */
  readNode(code: string, timeoutMs: number): Promise<boolean>
}
