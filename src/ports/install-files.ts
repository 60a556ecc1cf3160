/** What a managed node is made of. */
import type { Arch } from '#src/lib/elf.ts'

/** The programs that a managed node runs. */
export type CoreProgram = 'xray' | 'hysteria'

/** What a managed node is made of. */
export interface InstallFiles {
  /** The install script with its placeholders, and the scripts that it puts in place. */
  scripts(): { install: string; agent: string; hysteriaAuth: string }
  /** SHA-256 of the program for such machines, hex, computed from the file itself; null when there is none. */
  digest(program: CoreProgram, arch: Arch): Promise<string | null>
  /** The program itself; null when there is none. */
  open(
    program: CoreProgram,
    arch: Arch,
  ): Promise<{ bytes: number; stream: ReadableStream<Uint8Array> } | null>
}
