/** Downloads a core's pinned release and checks it against the digests that the release itself publishes. */
import { createHash } from 'node:crypto'
import type { Arch } from '#src/lib/elf.ts'
import type { Binary, CoreName, Progress } from './install.ts'
import { MAX_CORE_BYTES } from './install.ts'
import { readZipFile } from './zip.ts'

const MEGABYTE = 1024 * 1024
const MAX_ARCHIVE_BYTES = 192 * MEGABYTE
const MAX_DIGEST_BYTES = MEGABYTE
const TOTAL_MS = 15 * 60_000
const STALL_MS = 30_000
const MAX_REDIRECTS = 5

const HELP =
  'Check the network, point CORES_URL to a mirror, or use --dir DIR (files at hand) or --build (Go).'

/** Throws unless the address is https, or http to this machine itself. */
export function checkAddress(address: string): URL {
  const url = URL.parse(address)
  if (!url) throw new Error(`not an address: ${address} (look at CORES_URL)`)
  const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && loopback)) return url
  throw new Error(`refused ${url.origin}: cores come over https only (http only from this machine)`)
}

/** Follows redirects by hand, so that none of them may leave https. */
async function open(address: string, signal: AbortSignal): Promise<Response> {
  let url = checkAddress(address)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await fetch(url, { redirect: 'manual', signal })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || !location) return response
    await response.body?.cancel()
    url = checkAddress(new URL(location, url).href)
  }
  throw new Error(`more than ${MAX_REDIRECTS} redirects`)
}

/** The chunks of a body together; `touch` is called for each of them. */
async function collect(
  response: Response,
  maxBytes: number,
  touch: () => void,
  progress: Progress,
): Promise<Uint8Array<ArrayBuffer>> {
  const total = Number(response.headers.get('content-length') ?? 0)
  const tooLarge = new Error(`the file is larger than ${maxBytes} bytes`)
  if (total > maxBytes) throw tooLarge
  const of = total > 0 ? ` of ${(total / MEGABYTE).toFixed(1)}` : ''
  const chunks: Uint8Array[] = []
  let received = 0
  let shown = 0
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    touch()
    received += chunk.length
    if (received > maxBytes) throw tooLarge
    chunks.push(chunk)
    if (received - shown < 8 * MEGABYTE) continue
    shown = received
    progress(`    ${(received / MEGABYTE).toFixed(1)}${of} MB`)
  }
  if (received < total && !response.headers.get('content-encoding')) {
    throw new Error(`the connection ended after ${received} of ${total} bytes`)
  }
  return Buffer.concat(chunks)
}

/** The file at an address, bounded in size, in time, and in how long it may stand still. */
export async function download(
  address: string,
  maxBytes: number,
  progress: Progress,
): Promise<Uint8Array<ArrayBuffer>> {
  const stalled = new AbortController()
  const signal = AbortSignal.any([stalled.signal, AbortSignal.timeout(TOTAL_MS)])
  const stop = () => stalled.abort(new Error(`nothing arrived for ${STALL_MS / 1000} seconds`))
  let timer = setTimeout(stop, STALL_MS)
  const touch = () => {
    clearTimeout(timer)
    timer = setTimeout(stop, STALL_MS)
  }
  try {
    const response = await open(address, signal)
    if (!response.ok || !response.body) throw new Error(`the server answered ${response.status}`)
    return await collect(response, maxBytes, touch, progress)
  } catch (error) {
    stalled.abort()
    throw new Error(`${address}: ${reasonOf(error)}. ${HELP}`)
  } finally {
    clearTimeout(timer)
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause.message : ''
  return cause ? `${error.message} (${cause})` : error.message
}

/** The SHA-256 of Xray's `.dgst` (`openssl dgst`: `SHA2-256= HEX`; `SHA256= HEX` before OpenSSL 3). */
export function digestOfXray(text: string): string | undefined {
  return /^SHA(?:2-)?256\s*=\s*([0-9a-f]{64})\s*$/im.exec(text)?.[1]?.toLowerCase()
}

/** The SHA-256 of one file in Hysteria's `hashes.txt` (`sha256sum build/*`: `HEX  build/NAME`). */
export function digestOfHysteria(text: string, asset: string): string | undefined {
  for (const line of text.split('\n')) {
    const match = /^([0-9a-f]{64})\s+\*?(?:.*\/)?([^/\s]+)\s*$/i.exec(line)
    if (match?.[2] === asset) return match[1]?.toLowerCase()
  }
}

const XRAY_ASSETS: Record<Arch, string> = {
  amd64: 'Xray-linux-64.zip',
  arm64: 'Xray-linux-arm64-v8a.zip',
}

interface Source {
  asset: string
  address: string
  digestAddress: string
  digestOf: (text: string) => string | undefined
}

function sourceOf(core: CoreName, arch: Arch, base: string, version: string): Source {
  const root = base.replace(/\/+$/, '')
  if (core === 'xray') {
    const asset = XRAY_ASSETS[arch]
    const address = `${root}/XTLS/Xray-core/releases/download/${version}/${asset}`
    return { asset, address, digestAddress: `${address}.dgst`, digestOf: digestOfXray }
  }
  const asset = `hysteria-linux-${arch}`
  const folder = `${root}/apernet/hysteria/releases/download/${version}`
  return {
    asset,
    address: `${folder}/${asset}`,
    digestAddress: `${folder}/hashes.txt`,
    digestOf: (text) => digestOfHysteria(text, asset),
  }
}

/** Fetches one core's release. Throws when a digest is missing or differs: nothing is installed then. */
export async function fetchRelease(
  core: CoreName,
  arch: Arch,
  base: string,
  version: string,
  progress: Progress,
): Promise<Binary> {
  const source = sourceOf(core, arch, base, version)
  progress(`  ${source.address}`)
  const digests = await download(source.digestAddress, MAX_DIGEST_BYTES, progress)
  const published = source.digestOf(new TextDecoder().decode(digests))
  if (!published) {
    throw new Error(`${source.digestAddress} names no SHA-256 for ${source.asset}: not installed`)
  }
  const bytes = await download(source.address, MAX_ARCHIVE_BYTES, progress)
  const computed = createHash('sha256').update(bytes).digest('hex')
  progress(`    SHA-256 published by the release  ${published}`)
  progress(`    SHA-256 of what was downloaded    ${computed}`)
  if (published !== computed) {
    throw new Error(
      `${source.asset} is not what its release says it is: not installed. Try again; if it stays so, ` +
        'the download is being tampered with or the mirror is broken.',
    )
  }
  const content = core === 'xray' ? await readZipFile(bytes, 'xray', MAX_CORE_BYTES) : bytes
  return { core, arch, version, content }
}
