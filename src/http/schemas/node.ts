/** Nodes as the API shows them. */
import * as v from 'valibot'
import { count, day, port, portRange, trafficRatio, transports } from '#db/values.ts'
import type { dailyTraffic } from '#src/domain/installation/stats.ts'
import type { InstallCommand, NewInstallCommand } from '#src/domain/nodes/install/guide.ts'
import { LACKS } from '#src/domain/nodes/sync/programs.ts'
import type { NodeSyncResult } from '#src/ports/node-sync.ts'
import type { nodeView, retiredNodeView } from '../views.ts'
import { code, describes, timestamp } from './fields.ts'

/** SHA-256 of host keys, as `ssh-keygen -l` shows it. */
const fingerprints = v.pipe(
  v.string(),
  v.regex(/^(?:(?:SHA256:[A-Za-z0-9+/]{43}|unreadable)(?: |$))+$/),
)

export const nodeStatus = v.picklist(['pending', 'active', 'failed'])

export const node = describes<ReturnType<typeof nodeView>>()(
  v.strictObject({
    code,
    label: v.string(),
    kind: v.picklist(['local', 'managed', 'external']),
    address: v.string(),
    port,
    public_key: v.string(),
    short_id: v.string(),
    sni: v.string(),
    flow: v.string(),
    shared_uuid: v.nullable(v.string()),
    enabled: v.boolean(),
    status: nodeStatus,
    sort_order: v.pipe(v.number(), v.integer()),
    transports_json: transports,
    hysteria_port: v.nullable(port),
    hysteria_password: v.nullable(v.string()),
    hysteria_obfs_password: v.nullable(v.string()),
    /** Ports among which clients of Hysteria hop; only where there are some. `hysteria_hopping`: the node redirects them, and lists have them. */
    hysteria_hop: v.exactOptional(portRange),
    hysteria_hopping: v.exactOptional(v.boolean()),
    provision_expires_at: v.nullable(timestamp),
    provisioning: v.nullable(v.picklist(['first', 'again'])),
    ssh_port: port,
    ssh_user: v.nullable(v.string()),
    host_key: v.nullable(fingerprints),
    presented_host_key: v.nullable(fingerprints),
    core_version: v.nullable(v.string()),
    last_seen_at: v.nullable(timestamp),
    last_error: v.nullable(v.string()),
    sync_blocked: v.boolean(),
    created_at: timestamp,
    /** The former node program that it runs, and what that lacks: its install command must be run again. */
    traffic_ratio: v.exactOptional(trafficRatio),
    outdated: v.exactOptional(
      v.strictObject({ program: count, lacks: v.array(v.picklist(LACKS)) }),
    ),
  }),
)

/** What an operator runs on the server, as root. */
const command = v.pipe(v.string(), v.minLength(1))
export const installCommand = describes<InstallCommand>()(v.strictObject({ code, command }))
export const newInstallCommand = describes<NewInstallCommand>()(
  v.strictObject({ code, command, provision_expires_at: timestamp }),
)

export const retiredNode = describes<ReturnType<typeof retiredNodeView>>()(
  v.strictObject({
    code,
    address: v.string(),
    ssh_port: port,
    tries: count,
    next_try_at: timestamp,
    last_error: v.nullable(v.string()),
    created_at: timestamp,
  }),
)

export const moved = v.strictObject({ moved: count })

export const nodeState = v.strictObject({ status: nodeStatus, enabled: v.boolean() })

export const nodeCheck = v.strictObject({ alive: v.boolean() })

const measured = v.nullable(v.pipe(v.number(), v.minValue(0)))

/** Without the fields from `core_version` on where the machine could not be asked, and without `hysteria_up` where there is none. */
export const nodeMetrics = v.strictObject({
  ok: v.boolean(),
  mem_total_mb: measured,
  mem_used_mb: measured,
  uptime_s: measured,
  mem_fmt: v.string(),
  uptime_fmt: v.string(),
  core_version: v.exactOptional(v.nullable(v.string())),
  core_up: v.exactOptional(v.boolean()),
  hysteria_up: v.exactOptional(v.boolean()),
  clients: v.exactOptional(v.nullable(count)),
  load1: v.exactOptional(measured),
  cpu_count: v.exactOptional(v.nullable(count)),
  error: v.exactOptional(v.string()),
})

/** Days of TIMEZONE, oldest first. */
export const nodeTraffic = describes<Awaited<ReturnType<typeof dailyTraffic>>>()(
  v.array(v.strictObject({ day, up: count, down: count })),
)

export const syncedNode = describes<NodeSyncResult>()(
  v.strictObject({
    code,
    ok: v.boolean(),
    added: count,
    removed: count,
    error: v.nullable(v.string()),
  }),
)

export const syncReport = v.strictObject({ ok: v.boolean(), nodes: v.array(syncedNode) })
