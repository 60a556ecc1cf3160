/** What Hysteria beside a core serves: its parameters for the node program (docs/node-program.md). */
import type { Node } from '#db/schema/index.ts'
import { fits, parameter } from './parameters.ts'
import type { SoundNode } from './sound.ts'

/** What is told of Hysteria2 on a node; null where it has none. The certificate is made by the install script. */
export function hysteriaOf(
  node: Node,
): { port: number; obfs: string | null; hop: string | null } | null {
  if (node.kind !== 'managed' || !node.hysteriaPassword) return null
  const transport = node.transportsJson.find(({ type }) => type === 'hysteria2')
  if (!transport) return null
  const { hysteriaObfsPassword: obfs, hysteriaHop: hop } = node
  return { port: transport.port, obfs: obfs || null, hop: hop || null }
}

/** Where Hysteria's API listens on a server that has Hysteria: no inbound of its core can have this port (docs/node-program.md). */
export const TAKEN_PORT = 9999

/** Whether Hysteria would not start with what a node says of it: the node is served without. */
export function lacksFitObfs(node: Node): boolean {
  const obfs = hysteriaOf(node)?.obfs ?? null
  return obfs !== null && !fits('obfs', obfs)
}

/** Whether the clients of a node have Hysteria2 passwords. */
export const hasHysteria = (node: Node): boolean => hysteriaOf(node) !== null

/** Whether clients of a node are to hop among ports. */
export const wantsHops = (node: Node): boolean => Boolean(hysteriaOf(node)?.hop)

/** The parameters of Hysteria on a node; empty where there is none. Throws for values that no rule has seen. */
export function hysteriaParameters(node: SoundNode): string {
  const hysteria = hysteriaOf(node)
  if (!hysteria) return ''
  const { port, obfs, hop } = hysteria
  const more = [obfs === null ? '' : parameter('obfs', obfs), hop ? parameter('hop', hop) : '']
  return `hysteria 2\n${parameter('port', port)}${more.join('')}`
}
