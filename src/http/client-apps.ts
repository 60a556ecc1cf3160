/** Which User-Agents are proxy client apps, and what each of them reads. */
import { LIST_FORMATS, type ListFormat } from '#src/domain/lists/formats.ts'
import type { ListVariant } from '#src/domain/lists/list.ts'

/** So much of a User-Agent is looked at. */
export const AGENT_MAX_LENGTH = 512

const CLIENT_APPS = ['v2ray', 'xray', 'sing-box', 'happ', 'hiddify', 'streisand', 'shadowrocket']
CLIENT_APPS.push('clash', 'mihomo', 'stash', 'karing', 'nekobox', 'throne', 'v2box', 'incy')
CLIENT_APPS.push('prizrak')

const MIHOMO_APPS = ['clash', 'mihomo', 'stash', 'nekobox', 'throne', 'prizrak', 'karing']
const XRAY_APPS = ['v2ray', 'xray', 'happ', 'incy', 'streisand']

/** The value of `?format=`; undefined when it names no format, which counts as not given. */
export function parseListFormat(value: string | null | undefined): ListFormat | undefined {
  return LIST_FORMATS.find((format) => format === value)
}

/** How to answer this agent, or null when it is no client app and no known format was asked for. */
export function listFormat(
  userAgent: string | null | undefined,
  explicitFormat: string | null | undefined,
): ListVariant | null {
  const agent = lowered(userAgent)
  const explicit = parseListFormat(explicitFormat)
  if (!explicit && !containsAny(agent, CLIENT_APPS)) return null
  const format = explicit ?? formatOf(agent)
  const isHiddify = agent.includes('hiddify')
  return {
    format,
    agent,
    mayBeJson: explicit === undefined && format === 'base64' && !isHiddify,
    singboxVersion: format === 'singbox' ? singboxVersion(agent) : null,
    wsAndXhttp: explicit !== undefined || (containsAny(agent, XRAY_APPS) && !isHiddify),
  }
}

/** How many agents `createListFormats` remembers: apps have few versions, strangers send anything. */
const REMEMBERED_AGENTS = 500

/** `listFormat` that remembers its answers. */
export function createListFormats(): typeof listFormat {
  const known = new Map<string, ListVariant | null>()
  return (userAgent, explicitFormat) => {
    // A known format has no space in it, so no two questions have one key.
    const key = `${parseListFormat(explicitFormat) ?? ''} ${userAgent ?? ''}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const choice = listFormat(userAgent, explicitFormat)
    if (known.size >= REMEMBERED_AGENTS) known.clear()
    if (key.length <= AGENT_MAX_LENGTH) known.set(key, choice)
    return choice
  }
}

function formatOf(agent: string): ListFormat {
  if (/^sf[aimt][/ (]/.test(agent)) return 'singbox'
  // Hiddify calls itself "like ClashMeta v2ray sing-box", but reads headers only beside links.
  if (agent.includes('hiddify')) return 'base64'
  return containsAny(agent, MIHOMO_APPS) ? 'mihomo' : 'base64'
}

/** `SFA/1.14.0 (600; sing-box 1.14.0; language ru_RU)`: the core's version, not the app's. */
function singboxVersion(agent: string): string | null {
  return /sing-box[ /]v?(\d+\.\d+[\w.+-]*)/.exec(agent)?.[1] ?? null
}

function lowered(userAgent: string | null | undefined): string {
  return (userAgent ?? '').slice(0, AGENT_MAX_LENGTH).toLowerCase()
}

function containsAny(agent: string, names: string[]): boolean {
  for (const name of names) if (agent.includes(name)) return true
  return false
}
