/** The node programs that the panel drives, the present one and the one before it (docs/nodes.md), and what each is told. */
import type { Node } from '#db/schema/index.ts'
import { coreParameters, type TargetOf } from '#src/domain/nodes/core-config.ts'
import { hysteriaParameters, lacksFitObfs } from '#src/domain/nodes/hysteria-config.ts'
import type { SoundNode } from '#src/domain/nodes/sound.ts'
import { coreConfig, hysteriaConfig } from './program-1.ts'

/** The number of the program that install scripts bring. */
export const PRESENT_PROGRAM = 2

/** The program that a node runs; the present one as long as none was heard of. */
export const programOf = (node: Pick<Node, 'program'>): number => node.program ?? PRESENT_PROGRAM

/** The value of a client: its group, with its Hysteria2 password where it has one. */
export function clientValue(program: number, group: string, auth: string | null): string {
  if (auth === null) return group
  return program === 1 ? `${group} ${auth}` : `${group} auth=${auth}`
}

/** What the cores beside a node program are to run, clients apart; `hysteria` is empty where there is none, or none would start. A node with Hysteria has a core for itself. */
export function configurationsOf(
  program: number,
  nodes: SoundNode[],
  targetOf: TargetOf,
): { core: string; hysteria: string } {
  const [core, hysteria] =
    program === 1 ? [coreConfig, hysteriaConfig] : [coreParameters, hysteriaParameters]
  const texts = nodes.filter((node) => !lacksFitObfs(node)).map(hysteria)
  return { core: core(nodes, targetOf), hysteria: texts.find((text) => text !== '') ?? '' }
}

/**
 * What the program before the present one lacks. `own-configuration`: it does not make the cores' configurations by itself,
 * so whoever has the management key is root on its server (SECURITY.md). `port-hopping`: it redirects no range of ports to Hysteria; said
 * of a node that is to have one.
 */
export const LACKS = ['own-configuration', 'port-hopping'] as const

export type Lack = (typeof LACKS)[number]

/** The number of a node's program with what it lacks; null for one that runs the present program, or was never reached. */
export function outdatedProgram({
  kind,
  program,
  hysteriaHop,
}: Pick<Node, 'kind' | 'program'> & Partial<Pick<Node, 'hysteriaHop'>>): {
  program: number
  lacks: Lack[]
} | null {
  if (kind !== 'managed' || program !== 1) return null
  return { program, lacks: hysteriaHop ? [...LACKS] : [LACKS[0]] }
}
