/** The version of this program, as its package names it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const manifest = readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')

export const VERSION: string = JSON.parse(manifest).version
