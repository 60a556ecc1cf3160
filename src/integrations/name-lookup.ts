/**
 * The addresses of host names, asked of DNS without a thread. `getaddrinfo` takes one of the few that a process has for look-ups for as long as
 * it waits, 10 s and more where a name's servers are silent, whoever has stopped waiting: some such names held up every other, those
 * of gateways too. It still has the word where no server is asked, and where DNS knows no such name (search domains, other sources of
 * names), there for one name at a time.
 */
import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { errorCode } from '#src/lib/errors.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { inTime } from '#src/lib/pause.ts'
import { createSingleFlight } from '#src/lib/single-flight.ts'

/** The addresses of a host name. */
export type Resolve = (host: string) => Promise<string[]>

/** Two questions to each server, 3 s together for one. */
const PATIENCE = { timeout: 1000, tries: 2 }
/** The servers did not answer, or those behind them. */
const SILENCE = new Set(['ETIMEOUT', 'ESERVFAIL'])
/** What the C library reads as an IPv4 address: no domain ends in a number. */
const NUMBER = /(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/i

export interface NameSources {
  /** `getaddrinfo`. */
  system: Resolve
  /** DNS itself; `isSilent`: whether one of its questions had no answer. */
  ask(host: string): Promise<{ found: string[]; isSilent: boolean }>
  /** The hosts file. */
  hosts(): Promise<string>
}

/** Whether this machine has an address of the kind, by which it may reach others. */
const has = (kind: 'IPv4' | 'IPv6') =>
  Object.values(networkInterfaces()).some((all) =>
    all?.some(
      ({ family, internal, address }) =>
        family === kind && !internal && !address.startsWith('fe80:'),
    ),
  )

/** How long the addresses of the other kind are waited for, where those are there that this machine can use. */
const OTHER_KIND_MS = 300
/** More are no use to anybody who connects. */
const MOST_ADDRESSES = 16

/** A new resolver each time: each reads resolv.conf as it is now. */
async function ask(host: string) {
  const resolver = new Resolver(PATIENCE)
  let isSilent = false
  const answer = async (question: Promise<string[]>) => {
    try {
      return await question
    } catch (error) {
      if (SILENCE.has(errorCode(error) ?? '')) isSilent = true
      return []
    }
  }
  const both = [answer(resolver.resolve4(host)), answer(resolver.resolve6(host))]
  const isEnough = await Promise.race(
    both.map(async (one, i) => (await one).length > 0 && has(i === 0 ? 'IPv4' : 'IPv6')),
  )
  const kinds = await Promise.all(
    isEnough ? both.map((one) => inTime(one, OTHER_KIND_MS, [])) : both,
  )
  const found = (has('IPv4') ? kinds : kinds.reverse()).flat().slice(0, MOST_ADDRESSES)
  return { found, isSilent }
}

const SOURCES: NameSources = {
  system: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  ask,
  hosts: () => readFile('/etc/hosts', 'utf8').catch(() => ''),
}

/** Whether the hosts file has a line of the name. */
function lists(hosts: string, name: string): boolean {
  const text = hosts.toLowerCase()
  // The file may be long, and hardly any name is in it.
  if (!text.includes(name)) return false
  return text
    .split('\n')
    .some((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1).includes(name))
}

export function createNameLookup({ system, ask, hosts }: NameSources = SOURCES): Resolve {
  const flights = createSingleFlight<string[]>()
  const inTurn = createLimiter(1)
  const find: Resolve = async (host) => {
    if (NUMBER.test(host) || lists(await hosts(), host)) return system(host)
    const { found, isSilent } = await ask(host)
    if (found.length > 0) return found
    if (isSilent) throw Object.assign(new Error('DNS does not answer'), { code: 'EAI_AGAIN' })
    return inTurn(() => system(host))
  }
  return (host) => {
    const name = host.toLowerCase()
    return flights(name, () => find(name)).answer
  }
}

/** One for all of a thread: names wait for each other. */
export const lookUpName = createNameLookup()
