/** Hosts of nodes as the API shows them. */
import * as v from 'valibot'
import { HOST_TRANSPORTS, place, port, rowId } from '#db/values.ts'
import type { nodeHostView } from '../views.ts'
import { code, describes } from './fields.ts'

/** Empty texts and a port of null: what counts is the node's own. */
export const nodeHost = describes<ReturnType<typeof nodeHostView>>()(
  v.strictObject({
    id: rowId,
    node: code,
    transport: v.picklist(HOST_TRANSPORTS),
    label: v.string(),
    address: v.string(),
    port: v.nullable(port),
    sni: v.string(),
    host: v.string(),
    path: v.string(),
    fingerprint: v.string(),
    enabled: v.boolean(),
    sort_order: place,
    /** The list formats that have it; empty: all. */
    formats: v.array(v.string()),
  }),
)
