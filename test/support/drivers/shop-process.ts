/** A shop in real processes: buyers that come to the cabinet, payments at the fake YooKassa, books that must balance. */
import { expect } from 'vitest'
import type { FakeYookassa } from '#test/support/fakes/yookassa.ts'
import { type Area, PLAIN, type Server } from './process.ts'
import { expectSound } from './torture.ts'

/** The shop's keys at YooKassa: `startFakeYookassa(KEYS)`. */
export const KEYS = { 100500: 'live_a' }

/** Sells through YooKassa at this address. */
export const yookassaEnvironment = (url: string) => ({
  ...PLAIN,
  PAYMENTS_ENABLED: 'true',
  PROVIDER_A_API_URL: url,
  PROVIDER_A_SHOP_ID: '100500',
  PROVIDER_A_SECRET_KEY: KEYS[100500],
  PROVIDER_A_ENABLED: 'true',
})

/** A node that needs no program, so that what is bought can be served. */
export function addShopNode(a: Area): void {
  a.write(
    "insert into nodes (code, label, address, sort_order, created_at) values ('nl1', 'Nord', 'nl1.test', 9, '2026-01-01T00:00:00')",
  )
}

const tokenOf = (tgId: number) => `token-of-${tgId}-`.padEnd(43, 'x')

export function addBuyer(a: Area, tgId: number): void {
  const at = '2026-01-01T00:00:00'
  a.write('insert into users (tg_id, token, created_at) values (?, ?, ?)', tgId, tokenOf(tgId), at)
}

/** A month on the shop's node through YooKassa, unless told otherwise, as the cabinet orders it. */
export const buy = (server: Server, tgId: number, order = {}) =>
  server.call(`/api/cabinet/${tokenOf(tgId)}/payments`, {
    body: { node: 'nl1', plan: '1m', provider: 'provider_a', ...order },
  })

/** What YooKassa sends of a payment that was paid. */
export const notify = (server: Server, fake: FakeYookassa, externalId: string) =>
  server.call('/payments/webhook/provider_a', {
    body: fake.notice('payment.succeeded', externalId),
  })

export const paymentsOf = (a: Area, tgId: number) =>
  a.query<{ id: string; external_id: string; status: string }>(
    'select id, external_id, status from payments where tg_id = ?',
    tgId,
  )

/** `select count(*) from …` */
export const count = (a: Area, from: string): number =>
  a.query<{ n: number }>(`select count(*) n from ${from}`)[0]?.n ?? 0

/** As many payments for traffic as were made are paid, each for a subscription of its own, which has its bytes once. */
export function expectAddedOnce(a: Area, payments: number, bytes: number): void {
  expect(count(a, "payments where status = 'paid' and subscription_uuid = renews_uuid")).toBe(
    payments,
  )
  expect(count(a, 'subscriptions')).toBe(payments)
  expect(count(a, `subscriptions where extra_bytes = ${bytes} and limited_at is null`)).toBe(
    payments,
  )
  expect(count(a, "events where event = 'payment.paid'")).toBe(payments)
  expect(count(a, "outbox where kind = 'topped-up'")).toBe(payments)
  expect(count(a, "audit_log where action = 'payment.traffic'")).toBe(payments)
  expect(count(a, 'payments where review_reason is not null')).toBe(0)
  expectSound(a)
}

/** As many payments as were made are paid, each gave one subscription, one event, one message. */
export function expectGrantedOnce(a: Area, payments: number): void {
  expect(count(a, 'payments')).toBe(payments)
  expect(count(a, "payments where status = 'paid' and subscription_uuid is not null")).toBe(
    payments,
  )
  expect(count(a, 'subscriptions')).toBe(payments)
  expect(count(a, 'subscriptions where payment_id is not null')).toBe(payments)
  expect(count(a, "events where event = 'payment.paid'")).toBe(payments)
  expect(count(a, "outbox where kind = 'granted'")).toBe(payments)
  expect(count(a, "audit_log where action = 'payment.grant'")).toBe(payments)
  expect(count(a, 'payments where review_reason is not null')).toBe(0)
  expectSound(a)
}
