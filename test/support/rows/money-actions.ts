/** What customers, gateways, admins and time do to a shop, as actions of histories: to the service and to its model. */
import { expect } from 'vitest'
import { connectTelegram, createConnectLink } from '#src/domain/customers/linking.ts'
import { cleanUp } from '#src/domain/installation/cleanup.ts'
import { auditPayments } from '#src/domain/payments/audit.ts'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { redeemGift } from '#src/domain/subscriptions/gifts.ts'
import { upload } from '#test/support/archives/archives.ts'
import {
  convert,
  deleteOwner,
  give,
  grantPaid,
  lengthen,
  type Model,
  mergeOwners,
  restoreModel,
  takeBack,
} from './money-model.ts'
import { type MoneyWorld, PLANS } from './money-world.ts'
import { DAY } from './records.ts'

const TELEGRAM = [101, 102, 103]
const msOf = (text: string) => Date.parse(`${text}Z`)

export type Actions = Record<string, () => unknown>

/** Backups, and restores of any of them. */
export function restoresOf(m: MoneyWorld): Actions {
  const { w, chance, own, payments, rowOf, stateOf, post, buy, learnChanged } = m
  const [session] = w.rows('select * from admin_sessions')
  const backups: { archive: Uint8Array; model: Model }[] = []
  const restoreOne = async (backup: (typeof backups)[number]) => {
    const answer = await w.admin('/admin/api/backup/restore', upload(backup.archive))
    expect([answer.status, answer.json]).toMatchObject([200, { ok: true }])
    await w.s.background.idle()
    const names = Object.keys(session)
    const marks = names.map(() => '?').join()
    w.change(
      `insert into admin_sessions (${names.join()}) values (${marks})`,
      ...Object.values(session),
    )
    w.change('update nodes set sync_blocked = 0')
    own.model = restoreModel(own.model, backup.model)
    // Those that nobody had paid or will pay are not kept.
    for (const id of own.model.payments.keys()) if (!rowOf(id)) own.model.payments.delete(id)
  }

  return {
    backup: async () => {
      const { bytes } = await w.admin('/admin/api/backup')
      backups.push({ archive: bytes, model: structuredClone(own.model) })
    },
    restore: async () => {
      const backup = chance.of(backups)
      if (backup) await restoreOne(backup)
    },
    'restore while something is bought': async () => {
      const backup = chance.of(backups)
      if (!backup) return
      const row = payments().find((one) => stateOf(one)?.state === 'paid')
      const all = [restoreOne(backup), buy(), row && post(`payments/${row.id}/check`)]
      await Promise.all(all)
      await w.s.background.idle()
      learnChanged()
    },
  }
}

export function moneyActionsOf(m: MoneyWorld): Actions {
  const { w, chance, own, links, nowMs, gatewayOf, payments, rowOf, users, post, stateOf } = m
  const { forgetLinks, learnChanged, learnDeleted, check, notice, noticeRefund, buy, pay } = m
  const somePayment = () => chance.of(payments())
  const someUser = () => chance.of(users())
  const someUuid = () =>
    chance.of(w.rows('select uuid from subscriptions order by seq').map((row) => row.uuid)) ??
    'none'
  return {
    buy: () => buy(),
    'buy and pay': async () => {
      const id = pay(await buy())
      if (id) await notice(id)
    },
    'buy, pay, notice lost': async () => pay(await buy()),
    pay: async () => pay(somePayment()?.id),
    notice: async () => {
      const row = somePayment()
      if (row) await notice(row.id)
    },
    check: async () => {
      const row = somePayment()
      if (row) await check(row.id)
    },
    'fails at the gateway': async () => {
      const row = somePayment()
      if (row && stateOf(row)?.state === 'pending') gatewayOf(row.provider).fail(row.external_id)
    },
    'goes back at the gateway': async () => {
      const row = somePayment()
      const state = row && stateOf(row)
      if (state?.state !== 'paid') return
      gatewayOf(row.provider).pay(row.external_id, { ...state, refunded: true })
      if (row.provider === 'provider_a' && chance.below(2) === 0) await noticeRefund(row)
    },
    'marked refunded': async () => {
      const row = somePayment()
      if (!row) return
      const revoke = chance.below(2) === 0
      const times = 1 + chance.below(2)
      const answers = await Promise.all(
        Array.from({ length: times }, () => post(`payments/${row.id}/refunded`, { revoke })),
      )
      if (answers[0]?.status !== 200) return
      const payment = own.model.payments.get(row.id)
      if (!payment) return
      payment.refunded = true
      if (revoke) takeBack(own.model, row.id)
    },
    'granted by hand': async () => {
      const row = somePayment()
      if (!row) return
      const answer = await post(`payments/${row.id}/grant`)
      await w.s.background.idle()
      const after = rowOf(row.id)
      if (answer.status === 200 && row.status !== 'paid') {
        grantPaid(own.model, row.id, after.subscription_uuid, msOf(after.paid_at))
      }
    },
    gift: async () => {
      const user = someUser()
      const plan = chance.of(Object.keys(PLANS)) as keyof typeof PLANS
      const { code } = (await post('gift-codes', { node: 'de1', plan })).json
      if (!user || !code) return
      const both = await Promise.all([1, 2].map(() => redeemGift(w.s, user.tg_id, code)))
      for (const one of both) {
        if (one.outcome !== 'redeemed') continue
        const { row } = one.subscription
        give(own.model, row.uuid, nowMs(), { owner: user.tg_id, days: PLANS[plan] })
      }
    },
    hold: async () => {
      const uuid = someUuid()
      const answer = await post(`subscriptions/${uuid}/hold`)
      const sub = own.model.subscriptions.get(uuid)
      if (answer.status === 200 && sub) sub.heldMs = nowMs()
    },
    resume: async () => {
      const uuid = someUuid()
      const answer = await post(`subscriptions/${uuid}/resume`)
      const sub = own.model.subscriptions.get(uuid)
      if (answer.status !== 200 || !sub || sub.heldMs === null) return
      sub.expiresMs += Math.max(0, nowMs() - sub.heldMs)
      sub.heldMs = null
    },
    extend: async () => {
      const uuid = someUuid()
      const answer = await post(`subscriptions/${uuid}/extend`, { days: 5 })
      const sub = own.model.subscriptions.get(uuid)
      if (answer.status === 200 && sub) lengthen(sub, nowMs(), 5)
    },
    'another plan': async () => {
      const uuid = someUuid()
      const sub = own.model.subscriptions.get(uuid)
      const plan = chance.of(Object.keys(PLANS))
      const answers = await Promise.all(
        [1, 2].map(() => post(`subscriptions/${uuid}/change`, { plan })),
      )
      const changed = answers.filter(({ status }) => status === 200)
      expect(changed.length).toBeLessThanOrEqual(1)
      if (!sub || !changed[0]) return
      const days = changed[0].json.days_left
      // Both plans give the same.
      expect(days * DAY * 1000).toBeLessThanOrEqual(sub.expiresMs - nowMs())
      convert(own.model, uuid, nowMs(), days)
    },
    move: () =>
      w.admin(`/admin/api/subscriptions/${someUuid()}`, {
        method: 'PATCH',
        body: { node: chance.of(['de1', 'nl1']) },
      }),
    ban: async () => {
      const user = someUser()
      const body = { banned: chance.below(3) === 0 }
      if (user) await w.admin(`/admin/api/users/${user.tg_id}`, { method: 'PATCH', body })
    },
    guest: async () => {
      w.clock.advance(3_600_000)
      const answer = await w.call('/api/guest', { method: 'POST' })
      if (answer.status !== 200) return
      const user = users().find(({ token }) => token === answer.json.token)
      const id = pay(await buy(user))
      if (id && chance.below(2) === 0) await notice(id)
    },
    connect: async () => {
      const user = chance.of(users().filter(({ telegram_id }) => telegram_id === null))
      if (!user) return
      w.clock.advance(3000)
      const link = await createConnectLink(w.s, user.token).catch(() => null)
      const code = link?.split('link_')[1]
      if (!code) return
      const tgId = chance.of(TELEGRAM) as number
      const by = { admin: null, ip: 'bot' }
      const contact = { tgId, username: null, lang: 'en' } as never
      const connected = await connectTelegram(w.s, by, code, contact)
      if (typeof connected !== 'object') return
      mergeOwners(own.model, user.tg_id, connected.tgId)
      for (const [token, owner] of links) if (owner === user.tg_id) links.set(token, connected.tgId)
    },
    'delete a customer': async () => {
      const user = someUser()
      if (!user) return
      const answer = await w.admin(`/admin/api/users/${user.tg_id}`, { method: 'DELETE' })
      if (answer.status !== 200) return
      deleteOwner(own.model, user.tg_id)
      forgetLinks(user.tg_id)
    },
    'come by Telegram': async () => {
      const tgId = chance.of(TELEGRAM) as number
      if (w.rows('select 1 from users where ? in (tg_id, telegram_id)', tgId).length === 0) {
        w.change(
          'insert into users (tg_id, telegram_id, token, created_at) values (?, ?, ?, ?)',
          ...[tgId, tgId, `t-${tgId}-${links.size}-`.padEnd(43, 'x'), '2026-03-01T12:00:00'],
        )
      }
    },
    'another price': async () => {
      w.change("update plans set price = ? where code = '1m'", 150 + chance.below(3))
    },
    'plan archived or not': async () => {
      const body = { archived: chance.below(3) === 0 }
      await w.admin('/admin/api/plans/3m', { method: 'PATCH', body })
    },
    reconcile: async () => {
      await reconcilePayments(w.s)
      await w.s.background.idle()
      learnChanged()
    },
    'the list of the gateway': async () => {
      await auditPayments(w.s)
      await w.s.background.idle()
      learnChanged()
    },
    cleanup: () => cleanUp(w.s).then(learnDeleted),
    minutes: async () => w.clock.advance((1 + chance.below(50)) * 60_000),
    days: async () => w.clock.advance((1 + chance.below(25)) * DAY * 1000),
    'the clock is set': async () => w.clock.jump((chance.below(3) - 1) * 3_600_000),
  }
}
