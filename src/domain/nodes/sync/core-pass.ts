/** One pass over a core: its counters, clients and configuration, and what is noted of them on its nodes. */

import { releaseAddOnlyNodes } from '#db/add-only-nodes.ts'
import {
  noteBehind,
  noteChecked,
  noteHopping,
  noteInStep,
  recordHealth,
  setSyncBlocked,
} from '#db/nodes.ts'
import type { Node } from '#db/schema/index.ts'
import { readReading } from '#db/traffic.ts'
import type { NodeAlerts } from '#src/domain/nodes/alerts.ts'
import { servedNodes } from '#src/domain/nodes/core-config.ts'
import { lacksFitObfs, wantsHops } from '#src/domain/nodes/hysteria-config.ts'
import { noteLiveIn } from '#src/domain/nodes/live.ts'
import { type SoundNode, soundNode } from '#src/domain/nodes/sound.ts'
import { countReading } from '#src/domain/nodes/traffic.ts'
import { countedShare } from '#src/domain/quotas.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'
import type { Limiter } from '#src/lib/limiter.ts'
import type { LogFields } from '#src/lib/log.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Core } from '#src/ports/cores.ts'
import type { CoreStatus } from '#src/ports/node-program.ts'
import type { NodeSyncResult } from '#src/ports/node-sync.ts'
import type { Services } from '#src/services.ts'
import {
  type ClientChanges,
  isForeign,
  type Pass,
  STATUS_TIMEOUT_MS,
  syncClients,
} from './clients.ts'
import { configurationsOf } from './programs.ts'
import type { Outcome } from './retry-times.ts'

export type PassDeps = Pick<Services, 'db' | 'clock' | 'log' | 'config' | 'instanceId'> & {
  /** Lets one reading of a core be counted at a time, so that readings of one process never overtake each other. */
  counting(core: Core): Limiter
  /** Lets the clients of one core at a time be hashed (sync-clients.ts). */
  hashing: Limiter
  alerts: NodeAlerts
  logTrouble: LogTrouble
  /** Who had traffic at a core lately, as this process has read it. */
  seen(core: Core): SeenClients
  /** Takes clients who have used up their traffic off the nodes where it counts. */
  limit(uuids: string[]): void
  /** Tells the operator once that a core reports what cannot be. */
  logOddity(core: Core, oddity: string, count: number): void
}

/** Who had traffic at a core lately. */
export interface SeenClients {
  add(clients: [node: string, uuid: string][]): void
  /** How many of each node. */
  count(): Map<string, number>
}

/** Tells the operator once of a core's trouble that lasts, and of its end (null). */
export type LogTrouble = (core: Core, alarm: string | null, fields?: LogFields) => void

/** What a node lacks whose program answers. */
export const TROUBLE = {
  notServed:
    'not served: its port is in use by another local node, or the core takes no such short id, SNI or flow',
  localCoreMissing: 'no proxy core is installed: run `npm run cores`',
  coreMissing:
    'no proxy core answers on its server: where none is installed, have a new install command given out and run it there',
  coreStopped: 'the proxy core is not running',
  clients: 'the running core does not hold the wanted clients',
  hysteriaMissing: 'there is no Hysteria on the node',
  hysteriaObfs: 'Hysteria is left out: its obfs password is not 4 to 256 bytes of text',
  hysteriaStopped: 'Hysteria is not running',
  /** Such a node serves all the same, and lists are without the range: it is noted, and no alarm. */
  notRedirected:
    'its range of UDP ports is not redirected to Hysteria: neither nft nor iptables does it there',
} as const

/** What is wrong with a core that does not run, of which version null is known when its program is not there. */
export function stoppedCore(kind: string, version: string | null): string {
  if (version !== null) return TROUBLE.coreStopped
  return kind === 'managed' ? TROUBLE.coreMissing : TROUBLE.localCoreMissing
}

/** What is wrong with a core that answered, or null. What it said after its clients were changed is newer than its status. */
function troubleOf(nodes: Node[], { status, live, lacksHysteria }: CorePass): string | null {
  if (!live && !status.core.up) return stoppedCore(nodes[0]?.kind ?? '', status.core.version)
  if (!(live ?? status.live)) return TROUBLE.clients
  if (lacksHysteria) return TROUBLE.hysteriaMissing
  if (nodes.some(lacksFitObfs)) return TROUBLE.hysteriaObfs
  return status.hysteria?.up === false ? TROUBLE.hysteriaStopped : null
}

/** REALITY's target: the setting for the seeded node, else the site whose name it borrows. */
function targetOf(s: Pick<PassDeps, 'config'>, node: Node): string {
  const own = node.code === 'de1' ? s.config.localNode.target : ''
  return own === '' ? `${node.sni}:443` : own
}

type CorePass = ClientChanges & {
  status: CoreStatus
  configured: boolean
  /** Hysteria is wanted where its program is not installed. */
  lacksHysteria: boolean
  /** Whether the wanted range of Hysteria's ports is redirected; null: nobody has said so. */
  hopping: boolean | null
}

/** Lets a configuration be given; null without the core's binary. Such a machine goes on: its clients are kept for the day it has one. */
async function ifGiven<T>(giving: Promise<T>): Promise<T | null> {
  try {
    return await giving
  } catch (error) {
    if (!(error instanceof NodeError && error.failure === 'no-core')) throw error
    return null
  }
}

/** Reads a core and counts its counters. Throws NodeError. */
export async function readStatus(
  s: PassDeps,
  core: Core,
  nodes: Node[],
  timeoutMs: number,
): Promise<CoreStatus> {
  const acknowledged = await s.db.read((q) => readReading(q, core.name))
  const status = await core.program.status(acknowledged, timeoutMs)
  const shares = new Map(nodes.map((node) => [node.code, countedShare(node)]))
  const source = { core: core.name, nodes: shares, acknowledged }
  const { strange, absurd, seen } = await s.counting(core)(() =>
    countReading(s, source, status, s.limit),
  )
  s.seen(core).add(seen)
  if (strange > 0) s.logOddity(core, 'traffic of clients that are not on it', strange)
  if (absurd > 0) s.logOddity(core, 'more traffic than can be', absurd)
  return status
}

/** Gives the cores of a node the configurations that they have not; a core that is started anew forgets what it has counted. */
async function configure(s: PassDeps, core: Core, nodes: SoundNode[], status: CoreStatus) {
  const read = (isUp: boolean) =>
    isUp ? readStatus(s, core, nodes, STATUS_TIMEOUT_MS) : Promise.resolve()
  const { served } = servedNodes(nodes)
  const wanted = configurationsOf(status.program, served, (node) => targetOf(s, node))
  const caller = { owner: s.instanceId(), program: status.program }
  let configured = false
  if (status.config !== sha256Hex(wanted.core)) {
    await read(status.core.up)
    configured = (await ifGiven(core.program.configure(caller, wanted.core))) !== null
  }
  const { hysteria } = wanted
  const present = status.hysteria?.config
  if (present === (hysteria === '' ? undefined : sha256Hex(hysteria))) {
    return { configured, lacksHysteria: false, hopping: status.hysteria?.hop ?? false }
  }
  await read(status.hysteria?.up ?? false)
  const hopping = await ifGiven(core.program.hysteria(caller, hysteria))
  const given = hopping !== null
  return { configured: configured || given, lacksHysteria: !given, hopping: hopping ?? false }
}

/** One pass over a core. Clients first, because with `force` they take the node over. */
async function syncCore(s: PassDeps, core: Core, nodes: Node[], pass: Pass): Promise<CorePass> {
  const status = await readStatus(s, core, nodes, STATUS_TIMEOUT_MS)
  const sound = nodes.map(soundNode)
  const { served } = servedNodes(sound)
  const changes = await syncClients(s, core, served, status, pass)
  const isOurs = pass.force || !isForeign(s, status)
  const done = isOurs
    ? await configure(s, core, sound, status)
    : { configured: false, lacksHysteria: false, hopping: null }
  return { status, ...done, ...changes }
}

/** Notes on the node rows what a pass learned; alarms only where something changed. */
async function recordPass(s: PassDeps, nodes: Node[], pass: CorePass): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  const { conflicts } = servedNodes(nodes)
  const { program, core } = pass.status
  const { version } = core
  // Left out when it is the same, because lists depend on it: writing it would have them all read anew (db/engine/revision-triggers.ts).
  const changed = version !== null && nodes.some((node) => node.coreVersion !== version)
  const isHoppingLost = pass.hopping === false && program > 1 && nodes.some(wantsHops)
  const lastError = troubleOf(nodes, pass) ?? (isHoppingLost ? TROUBLE.notRedirected : null)
  await recordHealth(
    s.db,
    nodes.map((node) => node.code),
    { lastSeenAt: now, lastError, program, ...(changed ? { coreVersion: version } : {}) },
  )
  if (pass.hopping !== null) await noteHopping(s.db, nodes.filter(wantsHops), pass.hopping)
  if (conflicts.length > 0) {
    const codes = conflicts.map((node) => node.code)
    await recordHealth(s.db, codes, { lastError: TROUBLE.notServed })
  }
  for (const node of nodes) {
    const blocked = pass.blocked.has(node.code)
    if (!(await setSyncBlocked(s.db, node.code, blocked))) continue
    await s.alerts.noteBrake(node, blocked)
    if (blocked) s.log.warn('removals held back: send force to go on', { node: node.code })
    else s.log.info('removals go on', { node: node.code })
  }
}

export interface PassOutcome {
  results: NodeSyncResult[]
  outcome: Outcome
}

async function noteDone(s: PassDeps, core: Core, nodes: Node[], done: CorePass) {
  const trouble = troubleOf(nodes, done)
  const outcome = trouble ? 'failed' : done.configured ? 'restarted' : 'in step'
  await recordPass(s, nodes, done)
  const at = s.clock.now()
  await noteChecked(s.db, nodes, trouble === null, formatTimestamp(at))
  const seen = { status: done.status, active: s.seen(core).count() }
  await s.db.tx((tx) => noteLiveIn(tx, nodes, seen, at))
  if (outcome === 'in step') await noteInStep(s.db, nodes)
  else
    await noteBehind(
      s.db,
      nodes.map((node) => node.code),
    )
  s.logTrouble(core, trouble)
  await s.alerts.note(nodes, trouble)
  const results = nodes.map(({ code }) => ({
    code,
    ok: trouble === null,
    added: done.added.get(code) ?? 0,
    removed: done.removed.get(code) ?? 0,
    error: done.blocked.has(code) ? 'removals held back' : trouble,
  }))
  return { results, outcome } as const
}

async function noteFailed(s: PassDeps, core: Core, nodes: Node[], error: NodeError) {
  const codes = nodes.map((node) => node.code)
  const lastError = error.message
  s.logTrouble(core, 'node sync failed', { failure: error.failure, reason: lastError })
  await recordHealth(s.db, codes, { lastError })
  await noteChecked(s.db, nodes, false, formatTimestamp(s.clock.now()))
  await noteBehind(s.db, codes)
  await s.alerts.note(nodes, lastError)
  const results = codes.map((code) => ({
    code,
    ok: false,
    added: 0,
    removed: 0,
    error: lastError,
  }))
  return { results, outcome: 'failed' } as const
}

/** Makes a pass over a core that serves `nodes`. One that the core did not let happen is told and noted, not thrown. */
export async function passOver(
  s: PassDeps,
  core: Core,
  nodes: Node[],
  pass: Pass,
): Promise<PassOutcome> {
  try {
    const done = await syncCore(s, core, nodes, pass)
    if (pass.held) {
      await releaseAddOnlyNodes(
        s.db,
        pass.held,
        nodes.map((node) => node.code),
      )
    }
    return await noteDone(s, core, nodes, done)
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return noteFailed(s, core, nodes, error)
  }
}
