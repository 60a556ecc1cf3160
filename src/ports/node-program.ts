/** The node program of one machine (docs/node-program.md). */

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
  /** How many clients are connected to the cores; null where the program, or the core, does not tell. */
  online: number | null
  /** Null where the program does not tell. */
  host: MachineState | null
  reading: string
  counters: Counters
  /** Hysteria beside the core, with counters of its own; null where the node has none. `hop`: whether its range of ports is redirected. */
  hysteria: {
    config: string
    up: boolean
    epoch: string | null
    hop: boolean
    counters: Counters
  } | null
}

/** Absolute bytes since a core's start. */
export type Counters = [uuid: string, up: number, down: number][]

/** Who calls, and the number of the node's program as they know it, by which their request is written. */
export interface Caller {
  owner: string
  program: number
}

export interface ApplyRequest extends Caller {
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

/** A node's machine; the bytes are what its network has carried since its start. */
export interface MachineState {
  memTotalMb: number
  memUsedMb: number
  uptimeS: number
  load1: number
  cpuCount: number
  rxBytes: number
  txBytes: number
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

/**
 * The node program of one machine (docs/node-program.md). Every call ends in time or throws NodeError; `other-node` where the machine
 * says that it is another node.
 */
export interface NodeProgram {
  status(acknowledge: string, timeoutMs: number): Promise<CoreStatus>
  /** All clients, or those of these blocks; a block is named by the two digits that its UUIDs begin with. Blocks need program 2. */
  list(blocks?: string[]): Promise<{ clients: string; lines: [uuid: string, value: string][] }>
  /** The SHA-256 of the lines of each block, 00 to ff, empty for an empty one. Needs program 2. */
  blocks(): Promise<{ clients: string; count: number; blocks: string[] }>
  apply(request: ApplyRequest): Promise<ApplyResult>
  /** Gives the core what it is to run: parameters, or the whole configuration for program 1. */
  configure(caller: Caller, text: string): Promise<void>
  /** The same for Hysteria; an empty text ends it. Gives whether its range of ports is redirected. */
  hysteria(caller: Caller, text: string): Promise<boolean>
  /** Takes everybody's access away and stops the cores. */
  retire(owner: string, timeoutMs: number): Promise<void>
  metrics(timeoutMs: number): Promise<HostMetrics>
}
