/** Cores that are already at hand in a folder: DIR/xray, DIR/hysteria, or the same in DIR/<arch>/. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ARCHS, type Arch, archOf } from '#src/lib/elf.ts'
import { type Binary, CORES, MAX_CORE_BYTES } from './install.ts'

function readProgram(path: string): Uint8Array | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isFile()) return undefined
  if (stat.size > MAX_CORE_BYTES) throw new Error(`${path} is larger than ${MAX_CORE_BYTES} bytes`)
  return readFileSync(path)
}

/** The cores in `folder`; none only where `mayBeNone`. A file outside an <arch> folder belongs to the architecture its ELF header names. */
export function readCoreFiles(
  folder: string,
  archs: readonly Arch[],
  versions: Record<(typeof CORES)[number], string>,
  mayBeNone = false,
): Binary[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`--dir ${folder}: there is no such folder`)
  }
  const found = new Map<string, Binary>()
  const add = (core: (typeof CORES)[number], path: string, named?: Arch) => {
    const content = readProgram(path)
    if (!content) return
    let arch: Arch
    try {
      arch = archOf(content)
    } catch (error) {
      throw new Error(`${path}: ${(error as Error).message}`)
    }
    if (named && arch !== named)
      throw new Error(`${path} is a program for ${arch}, not for ${named}`)
    if (archs.includes(arch))
      found.set(`${arch}/${core}`, { core, arch, version: versions[core], content })
  }
  for (const core of CORES) {
    add(core, join(folder, core))
    for (const arch of ARCHS) if (archs.includes(arch)) add(core, join(folder, arch, core), arch)
  }
  if (found.size === 0 && !mayBeNone) {
    throw new Error(
      `${folder} holds no file named xray or hysteria for ${archs.join(' or ')} (nor in <arch>/ inside it)`,
    )
  }
  return [...found.values()]
}
