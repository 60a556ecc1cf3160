/**
 * What happens at this moment: one stream for the tab, open while it is looked at and a screen shows something of it. A browser allows six
 * connections to a host without HTTP/2, so tabs in the background have none.
 */
import { useEffect } from 'preact/hooks'
import { type Answer, api, ok } from './api.ts'
import { tellsOnce, withNode } from './live-told.ts'
import { online, session } from './session.ts'
import { createStore } from './store.ts'

type Told = Answer<typeof api.nodes.live.$get>

export type LiveNode = Told['nodes'][number]

/** What is not known yet is undefined. */
interface Now {
  nodes?: LiveNode[] | undefined
  online?: Told['online'] | undefined
}

/** How often it is read where the stream says nothing, and a stream that was refused is tried again. */
const READ_MS = 10_000
/** The next screen may show something of it too. */
const REST_MS = 1000
/** Sales that come close after each other are told as one. */
const GATHER_MS = 2000
/** Of so many it is known that they were told: whoever comes back is told those of the last minutes again. */
const MOST_SALES = 2000

const now = createStore<Now>({})
/** How many sales this page was told. */
const sales = createStore(0)
const isNew = tellsOnce(MOST_SALES)

let watchers = 0
let stream: EventSource | null = null
/** It has told how all is. */
let flows = false
let timer: ReturnType<typeof setInterval> | undefined
let resting: ReturnType<typeof setTimeout> | undefined

const set = (told: Now) => now.set({ ...now.get(), ...told })

async function read() {
  if (flows || session.get() !== 'in' || !online.get()) return
  const told = await ok(api.nodes.live.$get()).catch(() => null)
  if (told && !flows && watchers > 0) set(told)
}

function listen() {
  if (stream || session.get() !== 'in') return
  const opened = new EventSource('/admin/api/live')
  const on = <T>(name: string, take: (told: T) => void) =>
    opened.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent).data)))
  on<Told['nodes']>('nodes', (nodes) => {
    flows = true
    set({ nodes })
  })
  on<Told['online']>('online', (counts) => set({ online: counts }))
  on<LiveNode>('node', (node) => set({ nodes: withNode(now.get().nodes ?? [], node) }))
  on<{ code: string }>('node-gone', ({ code }) =>
    set({ nodes: now.get().nodes?.filter((node) => node.code !== code) }),
  )
  on<{ id: string }>('sale', ({ id }) => {
    if (isNew(id)) sales.set(sales.get() + 1)
  })
  opened.onerror = () => {
    flows = false
    // Else the browser comes back by itself.
    if (opened.readyState !== EventSource.CLOSED) return
    stream = null
    void read()
  }
  stream = opened
}

function start() {
  listen()
  timer ??= setInterval(() => {
    listen()
    void read()
  }, READ_MS)
}

function stop() {
  clearInterval(timer)
  timer = undefined
  stream?.close()
  stream = null
  flows = false
}

function watch() {
  watchers++
  clearTimeout(resting)
  if (document.visibilityState === 'visible') start()
  return () => {
    watchers--
    if (watchers > 0) return
    resting = setTimeout(() => {
      stop()
      // What is shown next time must not be what was.
      now.set({})
    }, REST_MS)
  }
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') stop()
  else if (watchers > 0) start()
})
session.follow((state) => {
  if (state === 'in' && watchers > 0 && document.visibilityState === 'visible') start()
})

/** How nodes do and how many are online, as it changes. */
export function useLive(): Now {
  useEffect(watch, [])
  return now.use()
}

/** Calls back soon after sales, once for those that came meanwhile; beside `useLive`. */
export function useSales(then: () => void): void {
  useEffect(() => {
    let gathering: ReturnType<typeof setTimeout> | undefined
    const unfollow = sales.follow(() => {
      gathering ??= setTimeout(() => {
        gathering = undefined
        then()
      }, GATHER_MS)
    })
    return () => {
      unfollow()
      clearTimeout(gathering)
    }
  }, [])
}
