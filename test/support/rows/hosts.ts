/** Nodes with hosts for tests. */
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'
import type { World } from '#test/support/worlds/world.ts'
import { addHost, addNode } from './records.ts'

const TRANSPORTS = JSON.stringify([
  { type: 'ws', port: 8443, path: '/ws', cert: CERT_PEM },
  { type: 'xhttp', port: 443, path: '/xh' },
  { type: 'hysteria2', port: 8444, cert: CERT_PEM },
])

/** A CDN before WebSocket, as requests say it. */
export const CDN = {
  ...{ transport: 'ws', label: 'CDN', address: 'cdn.test', port: 443, sni: 'cdn.test' },
  ...{ host: 'front.cdn.test', path: '/ws?ed=2560', fingerprint: 'firefox' },
}

/** The node nl1 with all transports, and us1 with REALITY alone. */
export function addOffering(w: World): void {
  addNode(w, 'nl1', { transports_json: TRANSPORTS, hysteria_password: 'password' })
  addNode(w, 'us1')
}

/** The same with two hosts of nl1, a CDN first, and one of us1: numbers 1 to 3. */
export function addHosts(w: World): void {
  addOffering(w)
  addHost(w, 'nl1', CDN)
  addHost(w, 'nl1', { label: 'Second' })
  addHost(w, 'us1')
}
