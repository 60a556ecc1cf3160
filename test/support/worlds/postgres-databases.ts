/** Databases on the PostgreSQL server that DATABASE_URL names. */
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { migrate } from '#db/engine/postgres/migrate.ts'
import { openClient } from '#db/engine/postgres/pool.ts'

const SERVER = process.env.DATABASE_URL ?? ''

const urlOf = (name: string) => {
  const url = new URL(SERVER)
  url.pathname = `/${name}`
  return url.toString()
}

/** Runs `work` on a connection of its own. */
export async function onDatabase<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = openClient(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Makes one, without tables; gives its address. */
export async function createEmptyDatabase(): Promise<string> {
  const name = `world_${randomBytes(8).toString('hex')}`
  await onDatabase(SERVER, (client) => client.query(`create database ${name}`))
  return urlOf(name)
}

/** Makes one in the form of this program. */
export async function createDatabase(): Promise<string> {
  const url = await createEmptyDatabase()
  await onDatabase(url, async (client) => {
    await client.query('begin')
    await migrate(client)
    await client.query('commit')
  })
  return url
}

/** Deletes it, with connections that it may have. */
export const dropDatabase = (url: string) =>
  onDatabase(SERVER, (client) =>
    client.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`),
  )
