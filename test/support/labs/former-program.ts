/** The install script of commit f588ccf, as a panel of that time gave it out: with node program 1. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillScript } from '#src/domain/nodes/install/script.ts'
import type { SoundNode } from '#src/domain/nodes/sound.ts'
import { coreConfig, hysteriaConfig } from '#src/domain/nodes/sync/program-1.ts'
import { ROOT } from '#test/support/drivers/process.ts'

const FORMER = join(ROOT, 'test/fixtures/program-1')

const read = (name: string) => readFileSync(join(FORMER, name), 'utf8')
const encoded = (text: string) => Buffer.from(text).toString('base64')

/** Values that no shell would read in another way stand between plain quotes. */
const valuesOf = (script: string) =>
  Object.fromEntries(
    Array.from(script.matchAll(/\b([A-Z0-9_]+)='([^']*)'/g), ([, name, value]) => [name, value]),
  )

/** The former script of a node, by the one that the panel gives out for it now. */
export function formerScript(present: string, node: SoundNode): string {
  return fillScript(read('install.sh'), {
    ...valuesOf(present),
    AGENT: encoded(read('node-agent.sh')),
    XRAY_CONFIG: encoded(coreConfig([node], ({ sni }) => `${sni}:443`)),
    HYSTERIA_CONFIG: encoded(hysteriaConfig(node)),
  })
}
