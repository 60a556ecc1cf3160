/** What a process is made of. Types only; the interfaces of what lies outside it are in ports/. */
import type { Database } from '#db/engine/database.ts'
import type { Config } from './config.ts'
import type { Background } from './lib/background.ts'
import type { Batch } from './lib/batch.ts'
import type { Clock } from './lib/clock.ts'
import type { Counts } from './lib/counts.ts'
import type { FairLimiter } from './lib/fair-line.ts'
import type { Limiter } from './lib/limiter.ts'
import type { Log } from './lib/log.ts'
import type { Rests } from './lib/rests.ts'
import type { SingleFlight } from './lib/single-flight.ts'
import type { Turns } from './lib/turns.ts'
import type { ClientCores } from './ports/client-cores.ts'
import type { Cores } from './ports/cores.ts'
import type { DataFiles } from './ports/data-files.ts'
import type { EventSender } from './ports/event-sender.ts'
import type { InstallFiles } from './ports/install-files.ts'
import type { Telegram } from './ports/messenger.ts'
import type { NodeSync } from './ports/node-sync.ts'
import type { Completion, PaymentGateways, PaymentState } from './ports/payment-gateway.ts'
import type { Reads } from './ports/reads.ts'
import type { RuleFiles } from './ports/rule-files.ts'
import type { Snapshots } from './ports/snapshots.ts'

/** What waits to be sent: outbound events, bot messages. */
export type Queue = 'events' | 'messages'

export interface Services {
  config: Config
  db: Database
  reads: Reads
  clock: Clock
  log: Log
  background: Background
  cores: Cores
  clientCores: ClientCores
  nodeSync: NodeSync
  /** Puts the pinned host keys of all nodes into `known_hosts`, table and file: call it after a commit that concerns them. Never throws. */
  writeKnownHosts(): Promise<void>
  /** Whether something listens at an address; false after `timeoutMs`. */
  dial: (address: string, port: number, timeoutMs: number) => Promise<boolean>
  telegram: Telegram
  eventSender: EventSender
  /** Sends what waits in `events` or `outbox`: call it after a commit that wrote there. Returns at once. */
  nudge(queue: Queue): void
  /** Aborted when the process is about to end: answers that have no end of their own end then. */
  ending: AbortSignal
  /** Aborts it. */
  beginEnd(): void
  /** Begins no more of what `nudge` asks for; `background` has what is under way. */
  endSending(): void
  /** The share of the data folder's disk that is free, 0 to 1. */
  freeDiskShare(): number
  gateways: PaymentGateways
  /** What is counted in memory for all web processes. */
  counts: Counts
  /** Payment providers that want to be left alone, by whatever process they were asked: ask them by domain/payments/gateways.ts. */
  gatewayRests: Rests
  /** Questions about payments that are under way, by payment: who asks meanwhile shares the answer. */
  paymentChecks: SingleFlight<PaymentState>
  /** Payments that are being asked of a provider, in the same way. */
  paymentCreations: SingleFlight<Completion>
  /** How often they are asked of it, by payment and customer. */
  creationTurns: Turns
  /** Password hashes: as many at a time as there are cores but one, at most 4. */
  hashing: Limiter
  /** The same for logins of whom nobody knows, who wait in a line of their own. */
  strangersHashing: Limiter
  /** Transactions that anybody may ask for, few at a time and by turns of networks: those who are known wait for no crowd. */
  strangersTurn: FairLimiter
  /** Ids of known devices that fetched a list, written together after the answers. */
  seenDevices: Batch<number>
  installFiles: InstallFiles
  ruleFiles: RuleFiles
  dataFiles: DataFiles
  snapshots: Snapshots
  /** INSTANCE_ID as it is now: whose clients the nodes hold. A restore changes it. */
  instanceId(): string
  /** Ends the process with code 70 when the error means that the database can't be trusted any more; else does nothing. */
  fatal(error: unknown): void
}
