/** The scheduler of a real service asks about payments by itself: the reconciler every minute, the audit of provider A once a day. */
import { afterEach, expect, test } from 'vitest'
import { PLAIN, RUNTIMES } from '#test/support/drivers/process.ts'
import { useAreas } from '#test/support/drivers/torture.ts'
import { startFakeYookassa } from '#test/support/fakes/yookassa.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const ends: (() => unknown)[] = []
afterEach(() => Promise.all(ends.splice(0).map((end) => end())))

test.each(RUNTIMES)(
  '%s: what is due is granted at the start, and what only the list has',
  async (runtime) => {
    const fake = await startFakeYookassa({ 100500: 'live_a' })
    ends.push(() => fake.close())
    const a = area({
      ...PLAIN,
      PROVIDER_A_API_URL: fake.url,
      PROVIDER_A_SHOP_ID: '100500',
      PROVIDER_A_SECRET_KEY: 'live_a',
    })
    await (await a.startServer({ runtime })).stop()
    const now = new Date().toISOString().slice(0, 19)
    /** A payment that YooKassa knows as paid; our row as it is given. */
    const addPaid = async (id: string, knowsId: boolean, nextCheckAt: string | null) => {
      const answer = await fetch(`${fake.url}/payments`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from('100500:live_a').toString('base64')}`,
          'idempotence-key': id,
        },
        body: JSON.stringify({
          amount: { value: '199.00', currency: 'RUB' },
          confirmation: { type: 'redirect', return_url: 'https://site.test/pay/done' },
          metadata: { payment_id: id },
        }),
      })
      const { id: externalId } = (await answer.json()) as { id: string }
      fake.pay(externalId)
      a.write(
        `insert into payments (id, tg_id, node, plan, provider, external_id, amount, currency, days, shop_id, created_at, next_check_at, source)
       values (?, 1, 'de1', '1m', 'provider_a', ?, 199, 'RUB', 30, '100500', ?, ?, 'bot')`,
        ...[id, knowsId ? externalId : '', now, nextCheckAt],
      )
    }
    await addPaid('00000000-0000-4000-8000-000000000001', true, now)
    await addPaid('00000000-0000-4000-8000-000000000002', false, null)
    const server = await a.startServer({ runtime })
    const paid = () => a.query("select id from payments where status = 'paid'").length
    await until('both are paid', () => paid() === 2, 15_000)
    const by = a.query(
      'select object from audit_log where action = ? order by object',
      'payment.grant',
    )
    // Whoever comes first: of the second one nobody could ask before the list had named it.
    expect(by.map(({ object }) => object)).toEqual([
      '00000000-0000-4000-8000-000000000001',
      '00000000-0000-4000-8000-000000000002',
    ])
    await server.stop()
  },
)
