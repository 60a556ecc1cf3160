/** The rule files of CORES_DIR, and those at an address of the operator's. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '#src/config.ts'
import type { Clock } from '#src/lib/clock.ts'
import { MINUTE_MS } from '#src/lib/time.ts'
import type { Outbound } from '#src/ports/outbound.ts'
import type { RuleFiles } from '#src/ports/rule-files.ts'

interface Deps {
  config: Pick<Config, 'coresDir'>
  clock: Pick<Clock, 'monotonicMs'>
  outbound: Outbound
  timeoutMs?: number
}

/** How long what was found of a file counts: lists ask each time. */
const LOOK_MS = 10_000
const TIMEOUT_MS = 10_000
const MOST_BYTES = 8 * 1024 * 1024

/** A file of rules as sing-box compiles it begins so. */
const isRuleFile = (bytes: Uint8Array): boolean =>
  bytes.length > 4 && bytes[0] === 0x53 && bytes[1] === 0x52 && bytes[2] === 0x53

interface Known {
  stamp: string
  bytes: Uint8Array<ArrayBuffer>
}

/** Names that lead nowhere else. */
const NAME = /^[a-z0-9-]{1,64}\.srs$/

/** Reads files of a folder, each anew when it is another. */
function createReader(folder: string): RuleFiles['read'] {
  const known = new Map<string, Known>()
  return (name) => {
    if (!NAME.test(name)) return null
    try {
      const path = join(folder, name)
      const found = statSync(path)
      // A device or a pipe would be read for ever.
      if (!found.isFile()) return null
      const { ino, size, mtimeMs } = found
      const stamp = `${ino} ${size} ${mtimeMs}`
      const last = known.get(name)
      if (last?.stamp === stamp) return last.bytes
      const bytes = size > MOST_BYTES ? new Uint8Array() : new Uint8Array(readFileSync(path))
      if (!isRuleFile(bytes)) return null
      known.set(name, { stamp, bytes })
      return bytes
    } catch {
      return null
    }
  }
}

/** What is known of a file at an address. */
interface Look {
  atMs: number
  /** How many looks have not found it, one after the other. */
  failures: number
}

/** A file at an address counts as missing when so many looks in a row have not found it. */
const FAILURES = 2
/** How long such a look counts; after a failure the next comes sooner. */
const FAR_LOOK_MS = 10 * MINUTE_MS
const AGAIN_MS = MINUTE_MS
/** An address that was changed leaves its looks behind. */
const MOST_LOOKS = 100

export function createRuleFiles({ config, clock, outbound, timeoutMs }: Deps): RuleFiles {
  const read = createReader(join(config.coresDir, 'rules'))
  const near = new Map<string, { atMs: number; isThere: boolean }>()
  const far = new Map<string, Look>()

  const isHere = (name: string): boolean => {
    const nowMs = clock.monotonicMs()
    const last = near.get(name)
    if (last && nowMs - last.atMs < LOOK_MS) return last.isThere
    const isThere = read(name) !== null
    near.set(name, { atMs: nowMs, isThere })
    return isThere
  }

  const isAt = async (url: string): Promise<boolean> => {
    try {
      const signal = AbortSignal.timeout(timeoutMs ?? TIMEOUT_MS)
      const { status, body } = await outbound({ method: 'GET', url, signal, maxBytes: MOST_BYTES })
      return status === 200 && isRuleFile(body)
    } catch {
      return false
    }
  }
  const note = (url: string, failures: number) => {
    if (far.size >= MOST_LOOKS) far.clear()
    far.set(url, { atMs: clock.monotonicMs(), failures })
  }
  const lookAt = async (url: string): Promise<boolean> => {
    const isThere = await isAt(url)
    note(url, isThere ? 0 : (far.get(url)?.failures ?? 0) + 1)
    return isThere
  }
  const seemsAt = (url: string): boolean => {
    const last = far.get(url)
    const failures = last?.failures ?? 0
    const validMs = failures > 0 ? AGAIN_MS : FAR_LOOK_MS
    if (last === undefined || clock.monotonicMs() - last.atMs >= validMs) {
      // No other request begins the same look.
      note(url, failures)
      void lookAt(url)
    }
    return failures < FAILURES
  }

  return {
    read,
    missing: (names, address) =>
      names.filter((name) => !(address === null ? isHere(name) : seemsAt(`${address}/${name}`))),
    async look(names, address) {
      if (address === null) return names.filter((name) => read(name) === null)
      const found = await Promise.all(names.map((name) => lookAt(`${address}/${name}`)))
      return names.filter((_, i) => !found[i])
    },
  }
}
