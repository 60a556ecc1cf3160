/** Outbound events in tests: rows of the log, and what a receiver reads. */
import { expect } from 'vitest'
import { hmacSha256 } from '#src/lib/crypto.ts'
import { base64, hex, utf8 } from '#src/lib/encoding.ts'
import type { Asked } from '#test/support/fakes/system.ts'
import type { World } from '#test/support/worlds/world.ts'
import { nowOf } from './records.ts'

export const SECRET = 'ab'.repeat(32)

/** The id of the event that `addEvent` makes. */
export const EVENT_ID = '00000000-0000-4000-8000-00000000000e'

/** An event as an earlier attempt left it; gives its id. */
export function addEvent(w: World, more: Record<string, string | number | null> = {}): string {
  const row = {
    id: EVENT_ID,
    event: 'node.added',
    data: '{"code":"nl1"}',
    status: 'failed',
    http_status: 500,
    error: 'answered 500',
    attempts: 1,
    created_at: nowOf(w),
    ...more,
  }
  w.change(
    `insert into events (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`,
    ...Object.values(row),
  )
  return row.id as string
}

/** What a receiver reads, after it has checked both signatures. */
export function readEvent(asked: Asked | undefined, secret = SECRET) {
  if (!asked) throw new Error('nothing was sent')
  expect(asked.headers['x-signature']).toBe(hex(hmacSha256(utf8(secret), utf8(asked.body))))
  // The world's clock is not today's, which the library compares with: the signature is checked, then the time.
  const timestamp = Number(asked.headers['webhook-timestamp'])
  const signed = `${asked.headers['webhook-id']}.${timestamp}.${asked.body}`
  expect(asked.headers['webhook-signature']).toBe(
    `v1,${base64(hmacSha256(utf8(secret), utf8(signed)))}`,
  )
  const body = JSON.parse(asked.body)
  expect(asked.headers['webhook-id']).toBe(body.id)
  expect(asked.headers['x-event']).toBe(body.event)
  return body
}

/** What the log says of an event. */
export const stateOf = (w: World, id = EVENT_ID) =>
  w.rows('select status, http_status, error, attempts from events where id = ?', id)[0]
