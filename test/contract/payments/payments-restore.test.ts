/** What a restore makes of payments, and how they come right by themselves. */
import { expect, test } from 'vitest'
import { connectTelegram, createConnectLink } from '#src/domain/customers/linking.ts'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { upload } from '#test/support/archives/archives.ts'
import { archiveOf, logInTo, restoreInto } from '#test/support/calls/restores.ts'
import { createFakeGateways } from '#test/support/fakes/gateway.ts'
import { addPayment, addUser, auditOf, DAY, inSeconds, nowOf } from '#test/support/rows/records.ts'
import { createFileWorld } from '#test/support/worlds/file-world.ts'
import { SHOP_ENVIRONMENT } from '#test/support/worlds/shop.ts'

test('paid payments that the backup does not know are granted once more when their provider still counts them as paid', async () => {
  const { gateways, a } = createFakeGateways()
  const w = await createFileWorld({ gateways, environment: SHOP_ENVIRONMENT })
  addUser(w, 1)
  addUser(w, 2)
  const archive = (await w.admin('/admin/api/backup')).bytes
  const paid = { status: 'paid', paid_at: nowOf(w), shop_id: '100500', deleted_user: 1 }
  for (const tgId of [1, 2, 3]) {
    addPayment(w, { ...paid, id: `p${tgId}`, tg_id: tgId, external_id: `yoo-${tgId}` })
  }
  w.change('update payments set deleted_user = 0')
  expect((await restoreInto(w, archive)).reviews).toBe(3)
  const answers = new Map([
    ['yoo-1', { state: 'paid', amount: '199.00', currency: 'RUB' }],
    ['yoo-2', { state: 'paid', amount: '199.00', currency: 'RUB', refunded: true }],
  ] as const)
  a.check = async ({ externalId }) => answers.get(externalId as 'yoo-1') ?? { state: 'pending' }
  expect(w.rows('select status, next_check_at from payments')).toEqual(
    [1, 2, 3].map(() => ({ status: 'pending', next_check_at: nowOf(w) })),
  )
  await reconcilePayments(w.s)
  const reason = 'paid, but unknown to the backup restored at 2026-03-01T12:00:00'
  expect(w.rows('select id, status, review_reason from payments order by id')).toEqual([
    { id: 'p1', status: 'paid', review_reason: null },
    { id: 'p2', status: 'pending', review_reason: 'refunded at the provider' },
    // Until the provider says what became of it, or an admin does.
    { id: 'p3', status: 'pending', review_reason: reason },
  ])
  expect(w.rows('select tg_id, expires_at from subscriptions')).toEqual([
    { tg_id: 1, expires_at: inSeconds(w, 30 * DAY) },
  ])
  const cookie = await logInTo(w)
  const granted = await w.call('/admin/api/payments/p3/grant', {
    method: 'POST',
    headers: { cookie },
  })
  expect(granted.json).toEqual({ status: 'paid' })
  expect(auditOf(w).filter((action) => action === 'payment.grant')).toHaveLength(2)
  w.close()
})

test('what a restore brought up for review, or a person has yet to look at, is there after another restore', async () => {
  const { gateways, a } = createFakeGateways()
  const w = await createFileWorld({ gateways, environment: SHOP_ENVIRONMENT })
  const archive = (await w.admin('/admin/api/backup')).bytes
  const of = (number: number) => ({ id: `p${number}`, external_id: `yoo-${number}` })
  const shop = { shop_id: '100500' }
  addPayment(w, { ...of(1), ...shop, status: 'paid', paid_at: nowOf(w) })
  addPayment(w, { ...of(2), ...shop, status: 'failed', review_reason: 'paid after it had failed' })
  addPayment(w, { ...of(3), ...shop, status: 'failed' })
  const at = nowOf(w)
  expect((await restoreInto(w, archive)).reviews).toBe(2)
  w.clock.advance(1000)
  const cookie = await logInTo(w)
  const again = await w.admin('/admin/api/backup/restore', { ...upload(archive), cookie })
  expect(again.json).toMatchObject({ ok: true, reviews: 2 })
  expect(w.rows('select id, status, review_reason from payments order by id')).toEqual([
    {
      id: 'p1',
      status: 'pending',
      review_reason: `paid, but unknown to the backup restored at ${at}`,
    },
    { id: 'p2', status: 'failed', review_reason: 'paid after it had failed' },
  ])
  a.check = async () => ({ state: 'paid', amount: '199.00', currency: 'RUB' })
  await reconcilePayments(w.s)
  expect(w.rows('select id, status from payments order by id')).toEqual([
    { id: 'p1', status: 'paid' },
    { id: 'p2', status: 'failed' },
  ])
  w.close()
})

test('a bill that was made after the backup and is paid after the restore is granted', async () => {
  const { gateways, a } = createFakeGateways()
  const w = await createFileWorld({ gateways, environment: SHOP_ENVIRONMENT })
  const archive = (await w.admin('/admin/api/backup')).bytes
  addPayment(w, { id: 'open', external_id: 'yoo-1', shop_id: '100500' })
  expect((await restoreInto(w, archive)).reviews).toBe(0)
  await reconcilePayments(w.s)
  const [open] = w.rows('select status, review_reason, external_id, checks from payments')
  expect(open).toEqual({ status: 'pending', review_reason: null, external_id: 'yoo-1', checks: 1 })
  a.check = async () => ({ state: 'paid', amount: '199.00', currency: 'RUB' })
  w.clock.advance(DAY * 1000)
  await reconcilePayments(w.s)
  expect(w.rows('select status from payments')).toEqual([{ status: 'paid' }])
  expect(w.rows('select tg_id from subscriptions')).toEqual([{ tg_id: 1 }])
  w.close()
})

/** A provider that counts all as paid, and knows nothing of money that went back another way. */
const countsAllAsPaid = async () => ({ state: 'paid', amount: '199.00', currency: 'RUB' }) as const

test('money that went back is given for no more, whatever the backup knows of its payment', async () => {
  const { gateways, cryptobot } = createFakeGateways()
  const w = await createFileWorld({ gateways, environment: SHOP_ENVIRONMENT })
  addUser(w, 1)
  for (const id of ['paid', 'review', 'failed', 'granted', 'open']) {
    addPayment(w, { id, provider: 'cryptobot', external_id: `c-${id}`, shop_id: '777' })
  }
  const at = nowOf(w)
  w.change("update payments set status = 'paid', paid_at = ? where id = 'granted'", at)
  const archive = (await w.admin('/admin/api/backup')).bytes
  w.change("update payments set status = 'paid', paid_at = ? where id = 'paid'", at)
  w.change("update payments set status = 'failed' where id = 'failed'")
  w.change("update payments set refunded_at = ? where id <> 'open'", at)
  expect((await restoreInto(w, archive)).reviews).toBe(2)
  cryptobot.check = countsAllAsPaid
  await reconcilePayments(w.s)
  const reason = `paid and refunded, but unknown to the backup restored at ${at}`
  expect(
    w.rows('select id, status, refunded_at, review_reason as why from payments order by id'),
  ).toEqual([
    { id: 'failed', status: 'pending', refunded_at: at, why: null },
    { id: 'granted', status: 'paid', refunded_at: at, why: reason },
    { id: 'open', status: 'paid', refunded_at: null, why: null },
    { id: 'paid', status: 'pending', refunded_at: at, why: reason },
    { id: 'review', status: 'pending', refunded_at: at, why: null },
  ])
  expect(w.rows('select payment_id from subscriptions')).toEqual([{ payment_id: 'open' }])
  w.close()
})

test('a bill whose provider had not answered yet when the backup was made is asked about after the restore', async () => {
  const { gateways, cryptobot } = createFakeGateways()
  const w = await createFileWorld({ gateways, environment: SHOP_ENVIRONMENT })
  addPayment(w, { id: 'open', provider: 'cryptobot', external_id: '', order_json: '{}' })
  const archive = (await w.admin('/admin/api/backup')).bytes
  const answered = { external_id: 'c-1', pay_url: 'https://pay.test/c-1', order_json: null }
  w.change(
    'update payments set external_id = @external_id, pay_url = @pay_url, order_json = @order_json',
    answered,
  )
  expect((await restoreInto(w, archive)).reviews).toBe(0)
  expect(w.rows('select external_id, pay_url, order_json from payments')).toEqual([answered])
  cryptobot.check = countsAllAsPaid
  await reconcilePayments(w.s)
  expect(w.rows('select status from payments')).toEqual([{ status: 'paid' }])
  w.close()
})

test('all that are pending are asked about once after it, and the mark of an earlier restore is no dropped setting', async () => {
  const { gateways, a } = createFakeGateways()
  const w = await createFileWorld({ gateways, environment: SHOP_ENVIRONMENT })
  const archive = await archiveOf((other) => {
    addPayment(other, { external_id: 'yoo-1', shop_id: '100500' })
    other.change("update instance set generation = 'earlier', payments_generation = 'earlier'")
  })
  expect((await restoreInto(w, archive)).dropped).toEqual([])
  for (let i = 0; i < 2; i++) {
    await reconcilePayments(w.s)
    w.change('update payments set next_check_at = null')
  }
  expect(a.calls.filter(({ method }) => method === 'check')).toHaveLength(1)
  w.close()
})

test('the review of what is granted is there after a restore', async () => {
  const { gateways } = createFakeGateways()
  const w = await createFileWorld({ gateways, environment: SHOP_ENVIRONMENT })
  addUser(w, 1)
  const paid = { status: 'paid', paid_at: nowOf(w), shop_id: '100500', provider: 'cryptobot' }
  addPayment(w, { ...paid, id: 'partly', external_id: 'c-1' })
  addPayment(w, { ...paid, id: 'kept', external_id: 'c-2', review_reason: 'to be looked at' })
  const archive = (await w.admin('/admin/api/backup')).bytes
  const reason = 'partly refunded at the provider: 50.00'
  w.change("update payments set review_reason = ? where id = 'partly'", reason)
  expect((await restoreInto(w, archive)).reviews).toBe(1)
  expect(w.rows('select id, status, review_reason as why from payments order by id')).toEqual([
    { id: 'kept', status: 'paid', why: 'to be looked at' },
    { id: 'partly', status: 'paid', why: reason },
  ])
  w.close()
})

test('what was refunded between two restores is in review where the second backup counts it as paid', async () => {
  const { gateways } = createFakeGateways()
  const w = await createFileWorld({ gateways, environment: SHOP_ENVIRONMENT })
  addUser(w, 1)
  const older = (await w.admin('/admin/api/backup')).bytes
  const paid = { status: 'paid', paid_at: nowOf(w), shop_id: '777', provider: 'cryptobot' }
  addPayment(w, { ...paid, id: 'p1', external_id: 'c-1' })
  const newer = (await w.admin('/admin/api/backup')).bytes
  await restoreInto(w, older)
  const cookie = await logInTo(w)
  const body = { revoke: true }
  const marked = await w.admin('/admin/api/payments/p1/refunded', { cookie, body })
  expect(marked.status).toBe(200)
  w.clock.advance(1000)
  const again = await w.admin('/admin/api/backup/restore', { ...upload(newer), cookie })
  expect(again.json).toMatchObject({ ok: true, reviews: 1 })
  expect(w.rows('select status, refunded_at is null as kept, review_reason from payments')).toEqual(
    [
      {
        status: 'paid',
        kept: 0,
        review_reason: `paid and refunded, but unknown to the backup restored at ${nowOf(w)}`,
      },
    ],
  )
  w.close()
})

test('who has bought after the backup keeps their link', async () => {
  const { gateways, a } = createFakeGateways()
  const environment = { ...SHOP_ENVIRONMENT, GUEST_SALES: 'true' }
  const w = await createFileWorld({ gateways, environment })
  const archive = (await w.admin('/admin/api/backup')).bytes
  const come = async () => (await w.call('/api/guest', { method: 'POST' })).json.token as string
  const buy = async (token: string) => {
    const body = { node: 'de1', plan: '1m', provider: 'provider_a' }
    return (await w.call(`/api/cabinet/${token}/payments`, { body })).json.id as string
  }
  const [paid, paying, idle] = [await come(), await come(), await come()]
  const first = await buy(paid)
  a.pay(a.externalIdOf(first))
  await reconcilePayments(w.s)
  const second = await buy(paying)
  await restoreInto(w, archive)
  a.pay(a.externalIdOf(second))
  await reconcilePayments(w.s)
  for (const token of [paid, paying]) {
    const { json } = await w.call(`/api/cabinet/${token}/shop`)
    expect(json.subscriptions).toHaveLength(1)
  }
  expect((await w.call(`/api/cabinet/${idle}/shop`)).status).toBe(404)
  expect(w.rows('select tg_id from users where tg_id < 0 order by 1')).toEqual([
    { tg_id: -2 },
    { tg_id: -1 },
  ])
  expect(w.faults()).toEqual([])
  w.close()
})

test('what a guest bought stays theirs by their link when they have connected to a customer of the backup', async () => {
  const { gateways, a } = createFakeGateways()
  const environment = { ...SHOP_ENVIRONMENT, GUEST_SALES: 'true' }
  const w = await createFileWorld({ gateways, environment })
  addUser(w, 1)
  const archive = (await w.admin('/admin/api/backup')).bytes
  const { token } = (await w.call('/api/guest', { method: 'POST' })).json
  const body = { node: 'de1', plan: '1m', provider: 'provider_a' }
  const { id } = (await w.call(`/api/cabinet/${token}/payments`, { body })).json
  a.pay(a.externalIdOf(id))
  await w.admin(`/admin/api/payments/${id}/check`, { body: {} })
  await w.s.background.idle()
  const code = (await createConnectLink(w.s, token))?.split('link_')[1] as string
  const contact = { tgId: 1, username: null, lang: 'en' } as const
  await connectTelegram(w.s, { admin: null, ip: 'bot' }, code, contact as never)
  const read = () => w.call(`/api/cabinet/${token}/shop`)
  expect((await read()).json.subscriptions).toHaveLength(1)
  await restoreInto(w, archive)
  await reconcilePayments(w.s)
  const { status, json } = await read()
  expect([status, json.subscriptions]).toMatchObject([200, [{ plan_label: expect.any(String) }]])
  expect(w.rows('select tg_id from subscriptions')).toEqual([{ tg_id: 1 }])
  expect(w.faults()).toEqual([])
  w.close()
})

test('whoever bought here is nobody of an archive in which others have their numbers', async () => {
  const { gateways, a } = createFakeGateways()
  const environment = { ...SHOP_ENVIRONMENT, GUEST_SALES: 'true' }
  const others = [-1, -2, -3]
  const archive = await archiveOf((other) => {
    for (const tgId of others) addUser(other, tgId)
    other.change("insert into sequences (name, last) values ('customers', 3)")
  })
  const w = await createFileWorld({ gateways, environment })
  w.clock.advance(DAY * 1000)
  const come = async () => (await w.call('/api/guest', { method: 'POST' })).json.token as string
  const buy = async (token: string) => {
    const body = { node: 'de1', plan: '1m', provider: 'provider_a' }
    return (await w.call(`/api/cabinet/${token}/payments`, { body })).json.id as string
  }
  const [paid, paying] = [await come(), await come()]
  const [first, second] = [await buy(paid), await buy(paying)]
  a.pay(a.externalIdOf(first))
  await reconcilePayments(w.s)
  await restoreInto(w, archive)
  a.pay(a.externalIdOf(second))
  await reconcilePayments(w.s)
  for (const token of [paid, paying]) {
    const { json } = await w.call(`/api/cabinet/${token}/shop`)
    expect(json.subscriptions).toHaveLength(1)
  }
  const given = w.rows('select tg_id from subscriptions order by tg_id')
  expect(given).toEqual([{ tg_id: -5 }, { tg_id: -4 }])
  expect(w.rows("select last from sequences where name = 'customers'")).toEqual([{ last: 5 }])
  // A backup of here is of the same people: the second restore of it moves nobody.
  const cookie = await logInTo(w)
  const own = (await w.call('/admin/api/backup', { headers: { cookie } })).bytes
  await w.call('/admin/api/backup/restore', { ...upload(own), headers: { cookie } })
  expect(w.rows('select tg_id from subscriptions order by tg_id')).toEqual(given)
  expect(w.faults()).toEqual([])
  w.close()
})

test('bills of a shop that has come after the backup are asked about by its keys', async () => {
  const { gateways, cryptobot } = createFakeGateways()
  const environment = { ...SHOP_ENVIRONMENT, CRYPTOBOT_TOKEN: '' }
  const w = await createFileWorld({ gateways, environment })
  const token = addUser(w, 1)
  const setToken = async (text: string) =>
    w.admin('/admin/api/payments/providers/cryptobot', { body: { token: text } })
  await setToken('777:former')
  const archive = (await w.admin('/admin/api/backup')).bytes
  w.clock.advance(60_000)
  await setToken('888:present')
  const body = { node: 'de1', plan: '1m', provider: 'cryptobot' }
  const { id } = (await w.call(`/api/cabinet/${token}/payments`, { body })).json
  await restoreInto(w, archive)
  cryptobot.pay(cryptobot.externalIdOf(id))
  await reconcilePayments(w.s)
  expect(cryptobot.calls.at(-1)?.shop.secret).toBe('888:present')
  expect(w.rows('select status from payments')).toEqual([{ status: 'paid' }])
  w.close()
})

test('money without a payment that was dealt with after the backup is looked at again', async () => {
  const { gateways } = createFakeGateways()
  const w = await createFileWorld({ gateways, environment: SHOP_ENVIRONMENT })
  const archive = (await w.admin('/admin/api/backup')).bytes
  const noted = `insert into orphan_payments (provider, external_id, found_at, resolved_at) values ('stars', ?, ?, ?)`
  w.change(noted, 'c-1', nowOf(w), nowOf(w))
  await restoreInto(w, archive)
  expect(w.rows('select external_id, resolved_at from orphan_payments')).toEqual([
    { external_id: 'c-1', resolved_at: null },
  ])
  w.close()
})
