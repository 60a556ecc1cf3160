/** What nodes are set up from: the scripts of `templates/` and the core programs of CORES_DIR. */
import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Config } from '#src/config.ts'
import { type Arch, archOf, ELF_HEADER_BYTES } from '#src/lib/elf.ts'
import { createSingleFlight } from '#src/lib/single-flight.ts'
import type { CoreProgram, InstallFiles } from '#src/ports/install-files.ts'

type Deps = { config: Pick<Config, 'coresDir' | 'xrayBin' | 'hysteriaBin'> }

const TEMPLATES = join(import.meta.dirname, '..', '..', '..', 'templates')

/** Where a program may be; the operator's own choice wins. What is for other machines is passed over. */
function candidates({ config }: Deps, program: CoreProgram, arch: Arch): string[] {
  const named = program === 'xray' ? config.xrayBin : config.hysteriaBin
  return [named, join(config.coresDir, arch, program), join(config.coresDir, program)].filter(
    Boolean,
  )
}

async function isFor(file: FileHandle, arch: Arch): Promise<boolean> {
  const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(ELF_HEADER_BYTES) })
  try {
    return archOf(buffer.subarray(0, bytesRead)) === arch
  } catch {
    return false
  }
}

interface Program {
  path: string
  bytes: number
  /** Another file at the same path has another stamp. */
  stamp: string
}

async function findProgram(s: Deps, program: CoreProgram, arch: Arch): Promise<Program | null> {
  for (const path of candidates(s, program, arch)) {
    let file: FileHandle
    try {
      file = await open(path)
    } catch {
      continue
    }
    try {
      const stat = await file.stat()
      if (!stat.isFile() || !(await isFor(file, arch))) continue
      const stamp = `${path} ${stat.ino} ${stat.size} ${stat.mtimeMs}`
      return { path, bytes: stat.size, stamp }
    } finally {
      await file.close()
    }
  }
  return null
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk)
  return hash.digest('hex')
}

/** The InstallFiles of an installation. A digest is computed once for each file. */
export function createInstallFiles(s: Deps): InstallFiles {
  const digests = new Map<string, string>()
  const hashing = createSingleFlight<string>()
  const read = (name: string) => readFileSync(join(TEMPLATES, name), 'utf8')
  return {
    scripts: () => ({
      install: read('install.sh'),
      agent: read('node-agent.sh'),
      hysteriaAuth: read('hy2-auth'),
    }),
    async digest(program, arch) {
      const found = await findProgram(s, program, arch)
      if (!found) return null
      const known = digests.get(found.stamp)
      if (known) return known
      const digest = await hashing(found.stamp, () => hashFile(found.path)).answer
      if (digests.size > 20) digests.clear()
      digests.set(found.stamp, digest)
      return digest
    },
    async open(program, arch) {
      const found = await findProgram(s, program, arch)
      if (!found) return null
      const { path, bytes } = found
      // A file that shrinks or grows meanwhile must not break the framing of the answer: never more than was announced.
      const content = createReadStream(path, { end: bytes - 1, highWaterMark: 1 << 18 })
      return { bytes, stream: Readable.toWeb(content) as unknown as ReadableStream<Uint8Array> }
    },
  }
}
