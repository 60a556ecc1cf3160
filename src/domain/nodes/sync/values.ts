/** The values of a node's clients (ports/node-program.ts, ClientMap). */

import { hysteriaAuth } from '#src/domain/nodes/hysteria-auth.ts'
import { hasHysteria } from '#src/domain/nodes/hysteria-config.ts'
import type { SoundNode } from '#src/domain/nodes/sound.ts'
import { clientValue } from './programs.ts'

/** Gives each client of a node its value, as this node program has it: the group, and the Hysteria2 password where the node has Hysteria2. */
export function valuesOf(node: SoundNode, program: number): (uuid: string) => string {
  const password = node.hysteriaPassword
  if (!password || !hasHysteria(node)) return () => clientValue(program, node.code, null)
  return (uuid) => clientValue(program, node.code, hysteriaAuth(password, uuid))
}
