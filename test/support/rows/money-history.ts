/** Random histories of a few customers and their money: after each step the service must say what the model says. */
import { expect } from 'vitest'
import { auditPayments } from '#src/domain/payments/audit.ts'
import { moneyActionsOf, restoresOf } from './money-actions.ts'
import { createMoneyWorld, type MoneyWorld } from './money-world.ts'
import { DAY, inSeconds } from './records.ts'

/** What happens oftener than the rest. */
const OFTEN = ['buy and pay', 'marked refunded', 'backup', 'restore', 'reconcile', 'connect']

const textOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 19))

/** Subscriptions and payments are what the model counts, and the books balance. */
function compare({ w, own: { model }, payments }: MoneyWorld): void {
  const subscriptions = w
    .rows('select * from subscriptions order by uuid')
    .map((row) => [row.uuid, row.tg_id, row.active === 1, row.expires_at, row.held_at])
  const counted = [...model.subscriptions]
    .map(([uuid, s]) => [uuid, s.owner, s.active, textOf(s.expiresMs), textOf(s.heldMs)])
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1))
  expect(subscriptions).toEqual(counted)
  for (const row of payments()) {
    const { owner, granted, refunded } = model.payments.get(row.id) ?? {}
    const is = [row.id, row.tg_id, row.status === 'paid', row.refunded_at !== null]
    expect(is).toEqual([row.id, owner, granted, refunded])
  }
  // Messages are kept for 30 days.
  expect(w.faults(inSeconds(w, -29 * DAY))).toEqual([])
  expect(w.fatal).toEqual([])
  expect(w.log.filter((line) => / error /.test(line))).toEqual([])
}

/** Money that a gateway has is that of a payment which was given for, or an admin sees it or has dealt with it. */
function expectMoneySeen({ w, gateways, rowOf }: MoneyWorld): void {
  const open = w.rows('select external_id from orphan_payments where resolved_at is null')
  const orphans = new Set(open.map((row) => row.external_id))
  for (const { known } of gateways) {
    for (const { externalId, state, order } of known.values()) {
      if (state.state !== 'paid' || state.refunded || orphans.has(externalId)) continue
      const row = rowOf(order.paymentId)
      expect(row, `${externalId} has a row`).toBeDefined()
      const isSeen = row.status === 'paid' || row.review_reason !== null || row.refunded_at !== null
      expect([externalId, isSeen]).toEqual([externalId, true])
    }
  }
}

/** By what link somebody has bought, by that they have it. */
async function expectLinks({ w, links }: MoneyWorld): Promise<void> {
  for (const [token, owner] of links) {
    const [bought] = w.rows(
      `select 1 from subscriptions as s join users as u on u.tg_id = s.tg_id and u.banned_at is null
       where s.tg_id = ? and s.active = 1 and s.payment_id is not null`,
      owner,
    )
    if (!bought) continue
    const { status } = await w.call(`/api/cabinet/${token}/shop`)
    expect([owner, status]).toEqual([owner, 200])
  }
}

/** Everything is asked about once more: then nothing is left that nobody knows of. */
async function settle(m: MoneyWorld): Promise<void> {
  for (const { id } of m.payments()) {
    m.w.clock.advance(60_000)
    await m.check(id)
  }
  await auditPayments(m.w.s)
  await m.w.s.background.idle()
  m.learnChanged()
  compare(m)
  expectMoneySeen(m)
  await expectLinks(m)
}

/** Plays a history of so many steps; with restores its database is a file. What fails names the seed and the steps. */
export async function playHistory(seed: number, restores: boolean, length: number): Promise<void> {
  const m = await createMoneyWorld(seed, restores)
  const actions = { ...moneyActionsOf(m), ...(restores ? restoresOf(m) : {}) }
  const names = [...Object.keys(actions), ...OFTEN, ...OFTEN].filter((name) => name in actions)
  const steps: string[] = []
  try {
    for (let step = 0; step < length; step++) {
      const name = m.chance.of(names) as string
      steps.push(name)
      await actions[name]?.()
      await m.w.s.background.idle()
      compare(m)
    }
    await settle(m)
  } catch (cause) {
    throw new Error(`seed ${seed}, restores ${restores}: ${steps.join('; ')}`, { cause })
  } finally {
    m.w.close()
  }
}
