/** TLS between a process and its server: certificates that are checked, and what is said where they are wrong. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeAt } from '#db/engine/open.ts'
import { freePort } from '#test/support/drivers/process.ts'
import { type PostgresServer, startPostgres } from '#test/support/labs/postgres-server.ts'
import { onDatabase } from '#test/support/worlds/postgres-databases.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
let folder: string
let port: number
let server: PostgresServer

const file = (name: string) => join(folder, name)
const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })

/** An authority of this name that signs nothing but a certificate of localhost. */
function makeAuthority(name: string): void {
  const subject = ['-subj', `/CN=${name}`, '-days', '2', '-nodes', '-newkey', 'ec']
  const curve = ['-pkeyopt', 'ec_paramgen_curve:prime256v1']
  openssl(
    'req',
    '-x509',
    ...subject,
    ...curve,
    '-keyout',
    file(`${name}.key`),
    '-out',
    file(`${name}.crt`),
  )
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-tls-'))
  chmodSync(folder, 0o755)
  makeAuthority('own')
  makeAuthority('other')
  openssl(
    ...[
      'req',
      '-x509',
      '-CA',
      file('own.crt'),
      '-CAkey',
      file('own.key'),
      '-subj',
      '/CN=localhost',
      '-days',
      '2',
      '-nodes',
    ],
    ...[
      '-addext',
      'subjectAltName=DNS:localhost',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
    ],
    ...['-keyout', file('server.key'), '-out', file('server.crt')],
  )
  const { uid, gid } = statSync(
    new URL(process.env.DATABASE_URL as string).searchParams.get('host') as string,
  )
  for (const name of ['server.key', 'server.crt']) {
    chmodSync(file(name), 0o600)
    chownSync(file(name), uid, gid)
  }
  port = await freePort()
  server = await startPostgres([
    ...[
      'fsync=off',
      'ssl=on',
      `ssl_cert_file=${file('server.crt')}`,
      `ssl_key_file=${file('server.key')}`,
    ],
    ...['listen_addresses=localhost', `port=${port}`],
  ])
  // Its socket has the port in its name, too: it is asked over TCP.
  await onDatabase(urlOf('?sslmode=disable', 'localhost', '/postgres'), (client) =>
    client.query(`create database shop`),
  )
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

const SAID = {
  authority:
    /^DATABASE_URL, shop on localhost:\d+: its certificate is of an authority that is not known here/,
  name: /^DATABASE_URL, shop on 127\.0\.0\.1:\d+: its certificate is for another name/,
}
const urlOf = (parts: string, host = 'localhost', database = '/shop') =>
  `postgres://subpanel:secret-of-the-shop@${host}:${port}${database}${parts}`

async function open(url: string) {
  const store = await storeAt({ databasePath: '', databaseUrl: url })
  const db = await store.open({ now: NOW })
  await db.tx(function* () {})
  db.close()
}

/** Whether all connections to the database are encrypted, those of a store among them. */
const encrypted = (url: string) =>
  onDatabase(url, async (client) => {
    const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
    return rows[0].ssl
  })

test.each([
  ['a certificate of an authority that is named', 'verify-full', true],
  ['any certificate', 'no-verify', true],
  ['no TLS where none is asked for', 'disable', false],
])('%s is taken', async (_, mode, isEncrypted) => {
  const url = urlOf(
    `?sslmode=${mode}${mode === 'verify-full' ? `&sslrootcert=${file('own.crt')}` : ''}`,
  )
  await open(url)
  expect(await encrypted(url)).toBe(isEncrypted)
})

test.each([
  [
    'of another authority',
    'authority',
    () => urlOf(`?sslmode=verify-full&sslrootcert=${file('other.crt')}`),
  ],
  ['of an authority that nobody knows', 'authority', () => urlOf('?sslmode=verify-full')],
  [
    'of another name',
    'name',
    () => urlOf(`?sslmode=verify-full&sslrootcert=${file('own.crt')}`, '127.0.0.1'),
  ],
] as const)('a certificate %s is refused, without the password', async (_, what, address) => {
  const error = await open(address()).then(
    () => null,
    (thrown: Error) => thrown,
  )
  expect(error?.message).toMatch(SAID[what])
  expect(error?.message).not.toContain('secret-of-the-shop')
})
