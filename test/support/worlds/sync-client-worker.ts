/** The thread of sync-client.ts. */
import { workerData } from 'node:worker_threads'
import type pg from 'pg'
import { openClient } from '#db/engine/postgres/pool.ts'

const { signal, port } = workerData
const clients = new Map<string, Promise<pg.Client>>()

async function connect(url: string) {
  const client = openClient(url)
  client.on('error', () => {})
  await client.connect()
  await client.query("set lock_timeout = '5s'")
  return client
}

async function answer({ url, sql, values }: { url: string; sql: string; values?: unknown[] }) {
  const client = clients.get(url) ?? connect(url)
  clients.set(url, client)
  return (await (await client).query(sql, values)).rows
}

port.on('message', async ({ id, ...word }: Parameters<typeof answer>[0] & { id: number }) => {
  try {
    port.postMessage({ id, rows: await answer(word) })
  } catch (error) {
    const { message, code } = error as Error & { code?: string }
    port.postMessage({ id, error: message, code })
  }
  Atomics.store(signal, 0, 1)
  Atomics.notify(signal, 0)
})
