/** Which machine a Linux program is for. */

export const ARCHS = ['amd64', 'arm64'] as const
export type Arch = (typeof ARCHS)[number]

/** As much of a program as archOf reads. */
export const ELF_HEADER_BYTES = 64

const MACHINES = new Map<number, Arch>([
  [62, 'amd64'],
  [183, 'arm64'],
])

/** The architecture of an ELF program (e_machine, System V ABI). Throws when it is no 64-bit Linux program. */
export function archOf(content: Uint8Array): Arch {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength)
  const isElf = content.length >= ELF_HEADER_BYTES && view.getUint32(0) === 0x7f454c46
  if (!isElf || content[4] !== 2 || content[5] !== 1) throw new Error('not a 64-bit Linux program')
  const machine = view.getUint16(18, true)
  const arch = MACHINES.get(machine)
  if (!arch) throw new Error(`a program for another kind of machine (ELF machine ${machine})`)
  return arch
}
