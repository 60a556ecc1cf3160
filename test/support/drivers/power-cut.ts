/** Power cuts replayed: from a log of a process's real system calls, the files that a machine would find after losing power. */
import { createReadStream, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { findProgram } from './process.ts'
import { seeded } from './torture.ts'

type Change =
  | { kind: 'write'; file: string; offset: number; bytes: Buffer }
  | { kind: 'truncate'; file: string; size: number }
export type Event =
  | Change
  | { kind: 'sync'; file: string }
  | { kind: 'unlink'; file: string }
  | { kind: 'ack'; ids: string[] }

const CALLS =
  'openat,close,pwrite64,write,writev,sendto,sendmsg,fsync,fdatasync,ftruncate,unlink,unlinkat'

/** Runs a command so that its calls are logged to `log`; the command keeps the pid. */
export const logged = (log: string) => [
  findProgram('strace'),
  ...['-D', '-f', '-qq', '-xx', '-s', '300000', '-o', log, '-e', `trace=${CALLS}`],
]

const unhex = (text: string) => Buffer.from(text.replaceAll('\\x', ''), 'hex')
const STRING = /"((?:\\x[0-9a-f]{2})*)"/g

/** Turns lines of the log into events of the files named in `files`; `acks` finds acknowledgements in what was sent. */
function createParser(files: string[], acks: (sent: string) => string[]) {
  const open = new Map<string, string>()
  const unfinished = new Map<string, string>()
  const events: Event[] = []
  const named = (hex: string | undefined) => {
    const name = basename(unhex(hex ?? '').toString())
    return files.includes(name) ? name : undefined
  }
  const call: Record<string, (args: string, result: string) => void> = {
    openat(args, result) {
      const name = named(/"([^"]*)"/.exec(args)?.[1])
      if (name && Number(result) >= 0) open.set(result, name)
      else open.delete(result)
    },
    close: (args) => void open.delete(args),
    pwrite64(args) {
      const [, fd, hex, offset] = /^(\d+), "([^"]*)", \d+, (\d+)/.exec(args) ?? []
      const file = open.get(fd ?? '')
      if (file)
        events.push({ kind: 'write', file, offset: Number(offset), bytes: unhex(hex ?? '') })
    },
    ftruncate(args) {
      const [fd, size] = args.split(', ')
      const file = open.get(fd ?? '')
      if (file) events.push({ kind: 'truncate', file, size: Number(size) })
    },
    fsync(args) {
      const file = open.get(args)
      if (file) events.push({ kind: 'sync', file })
    },
    unlink(args) {
      const file = named(/"([^"]*)"/.exec(args)?.[1])
      if (file) events.push({ kind: 'unlink', file })
    },
    write(args) {
      if (open.has(/^\d+/.exec(args)?.[0] ?? ''))
        throw new Error('a write that this replay does not know')
      const sent = [...args.matchAll(STRING)].map((match) =>
        unhex(match[1] ?? '').toString('latin1'),
      )
      const ids = acks(sent.join(''))
      if (ids.length > 0) events.push({ kind: 'ack', ids })
    },
  }
  const same: Record<string, string> = {
    fdatasync: 'fsync',
    unlinkat: 'unlink',
    writev: 'write',
    sendto: 'write',
    sendmsg: 'write',
  }
  const whole = (line: string) => {
    const [, pid = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(pid, rest.slice(0, -'<unfinished ...>'.length))
      return null
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1]
    return resumed === undefined ? rest : (unfinished.get(pid) ?? '') + resumed
  }
  return {
    events,
    feed(line: string) {
      const text = whole(line)
      const end = text?.lastIndexOf(') ') ?? -1
      const name = text ? /^\w+(?=\()/.exec(text)?.[0] : undefined
      if (!text || !name || end < 0) return
      const result = /= (-?\d+)/.exec(text.slice(end))?.[1] ?? '-1'
      if (Number(result) < 0) return
      call[same[name] ?? name]?.(text.slice(name.length + 1, end).trim(), result)
    },
  }
}

export async function readEvents(
  log: string,
  files: string[],
  acks: (sent: string) => string[],
): Promise<Event[]> {
  const parser = createParser(files, acks)
  for await (const line of createInterface({ input: createReadStream(log) })) parser.feed(line)
  return parser.events
}

/** The content of a file that grows as it is written. */
class Disk {
  #bytes = Buffer.alloc(0)
  #size = 0
  apply(change: Change): void {
    const end = change.kind === 'write' ? change.offset + change.bytes.length : change.size
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(end, this.#bytes.length * 2))
      this.#bytes.copy(grown, 0, 0, this.#size)
      this.#bytes = grown
    }
    if (change.kind === 'write') {
      change.bytes.copy(this.#bytes, change.offset)
      this.#size = Math.max(this.#size, end)
      return
    }
    if (end < this.#size) this.#bytes.fill(0, end, this.#size)
    this.#size = end
  }
  copy(): Disk {
    const other = new Disk()
    other.#bytes = Buffer.from(this.#bytes.subarray(0, this.#size))
    other.#size = this.#size
    return other
  }
  content(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }
}

export interface CutReport {
  events: number
  acks: number
  states: number
  lost: number
  mostLost: number
  corrupt: number
}

/** What is wrong with the files in a folder: null when they can't be read, else the ids that are there. */
export type Inspect = (folder: string) => Set<string> | null

/** What is on disk, and what is only on its way there. */
class Machine {
  readonly durable = new Map<string, Disk>()
  readonly pending = new Map<string, Change[]>()

  #diskOf(file: string): Disk {
    const disk = this.durable.get(file) ?? new Disk()
    this.durable.set(file, disk)
    return disk
  }

  apply(event: Exclude<Event, { kind: 'ack' }>): void {
    const { file } = event
    const waiting = this.pending.get(file) ?? []
    if (event.kind === 'sync') for (const change of waiting) this.#diskOf(file).apply(change)
    if (event.kind === 'unlink') this.durable.delete(file)
    if (event.kind === 'sync' || event.kind === 'unlink') {
      this.pending.delete(file)
      return
    }
    // That a file is there counts as durable.
    this.#diskOf(file)
    waiting.push(event)
    this.pending.set(file, waiting)
  }

  /** The disks when a random half of what was on its way has arrived. */
  half(random: () => number): Map<string, Disk> {
    const disks = new Map([...this.durable].map(([file, disk]) => [file, disk.copy()]))
    for (const [file, changes] of this.pending)
      for (const change of changes) if (random() < 0.5) disks.get(file)?.apply(change)
    return disks
  }
}

/**
 * Cuts the power after every event. What was synced is there; of the rest nothing, or a random half. Between two changes of that
 * state only the acknowledgements grow, so each state is inspected once, with the most of them: for nothing kept that is every
 * cut point, for the random half one cut of `everyNth`.
 */
export function replay(
  events: Event[],
  folder: string,
  inspect: Inspect,
  options: { seed: number; everyNth: number },
): CutReport {
  const random = seeded(options.seed)
  const machine = new Machine()
  const acked: string[] = []
  const report = { events: events.length, acks: 0, states: 0, lost: 0, mostLost: 0, corrupt: 0 }
  const look = (disks: Map<string, Disk>) => {
    if (acked.length === 0) return
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    for (const [file, disk] of disks) writeFileSync(join(folder, file), disk.content())
    const found = inspect(folder)
    const missing = found ? acked.filter((id) => !found.has(id)).length : 0
    report.states++
    if (!found) report.corrupt++
    if (missing > 0) report.lost++
    report.mostLost = Math.max(report.mostLost, missing)
  }
  for (const [index, event] of events.entries()) {
    if (event.kind === 'sync' || event.kind === 'unlink') look(machine.durable)
    if (event.kind === 'ack') acked.push(...event.ids)
    else machine.apply(event)
    if (index % options.everyNth === 0 && machine.pending.size > 0) look(machine.half(random))
  }
  look(machine.durable)
  report.acks = acked.length
  return report
}
