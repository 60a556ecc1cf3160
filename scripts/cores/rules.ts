/** The rule files of routing presets: fetched from their projects at a pinned commit, or taken from files at hand. */
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Progress } from './install.ts'
import { download } from './releases.ts'

const GEOSITE = 'SagerNet/sing-geosite/raw/91351d398ac676b292a50735c103e3a749e427cf'
const GEOIP = 'SagerNet/sing-geoip/raw/2a2e07b584993142524a1887d05d68e786389c8c'

interface RuleFile {
  name: string
  /** Where the project has it, under the address of releases. */
  folder: string
  /** SHA-256. */
  digest: string
}

/** Each with where it comes from and its SHA-256: change them together. */
const RULE_FILES: RuleFile[] = [
  {
    name: 'geosite-category-ru.srs',
    folder: GEOSITE,
    digest: '22a4817843e90efb3fcd01d91868c729e8b26c1eda6872779b5aa81db2b8d11c',
  },
  {
    name: 'geosite-category-ir.srs',
    folder: GEOSITE,
    digest: '7dfd5cf7ecd5f341a78966ff68b0539344b7f8077f3b039e2094bd9b7f11ed9b',
  },
  {
    name: 'geosite-cn.srs',
    folder: GEOSITE,
    digest: '24141dfe3559a0cbae58c7504ac0c00f6294971163e82312246ca8dcfdf2c271',
  },
  {
    name: 'geosite-category-ads-all.srs',
    folder: GEOSITE,
    digest: 'b32293dbf61ba41b0571ff65edd08d881084172870c9e073c718aeac95e1bedc',
  },
  {
    name: 'geoip-ru.srs',
    folder: GEOIP,
    digest: '7c958870ae80c0d9c497e7a38a8dddb1134b69c7f0d8a9557b8c63228b357ccb',
  },
  {
    name: 'geoip-ir.srs',
    folder: GEOIP,
    digest: '92f8095829fa32fce87b59a64e1b9bf4b507baf5e24af4d1c9b6f0d82cc4a3e6',
  },
  {
    name: 'geoip-cn.srs',
    folder: GEOIP,
    digest: '288230a6525b9c112b792240d183e739dc5dacb0986d45be61b212dfda7639cb',
  },
]

const MOST_BYTES = 8 * 1024 * 1024

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

interface Places {
  coresDir: string
  /** A folder in it for what is not finished. */
  workFolder: string
  folderMode: number
}

function install(name: string, bytes: Uint8Array, places: Places): void {
  const folder = join(places.coresDir, 'rules')
  mkdirSync(folder, { recursive: true, mode: places.folderMode })
  const temporary = join(places.workFolder, name)
  writeFileSync(temporary, bytes, { flush: true })
  chmodSync(temporary, 0o644)
  renameSync(temporary, join(folder, name))
}

/** Fetches all of them. Throws for one that is another than the pinned one; those before it are in place. */
export async function fetchRules(
  base: string,
  places: Places,
  progress: Progress,
  files: readonly RuleFile[] = RULE_FILES,
): Promise<void> {
  for (const { name, folder, digest } of files) {
    const bytes = await download(
      `${base.replace(/\/+$/, '')}/${folder}/${name}`,
      MOST_BYTES,
      progress,
    )
    if (digestOf(bytes) !== digest) {
      throw new Error(`${name} is not the pinned file (SHA-256 ${digestOf(bytes)}): not installed`)
    }
    install(name, bytes, places)
  }
  progress(`  ${files.length} rule files in ${join(places.coresDir, 'rules')}`)
}

/** Takes those that DIR/rules holds, pinned or not; how many they were. */
export function takeRules(dir: string, places: Places, progress: Progress): number {
  let count = 0
  for (const { name, digest } of RULE_FILES) {
    const path = join(dir, 'rules', name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat?.isFile()) continue
    if (stat.size > MOST_BYTES) throw new Error(`${path} is larger than ${MOST_BYTES} bytes`)
    const bytes = readFileSync(path)
    if (bytes.subarray(0, 3).toString('latin1') !== 'SRS') {
      throw new Error(`${path} is no rule file that sing-box has compiled`)
    }
    install(name, bytes, places)
    const own = digestOf(bytes) === digest ? '' : ' (not the pinned one)'
    progress(`  ${name}  ${digestOf(bytes)}${own}`)
    count++
  }
  return count
}
