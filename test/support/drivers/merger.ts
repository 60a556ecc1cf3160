/**
 * A process in whose installation pairs of customers become one, with the environment of a service:
 * `merger.ts fill COUNT` makes pairs, each with a code, bought, given and redeemed by the rules themselves;
 * `merger.ts merge` uses up the codes that there are, one after another, and says each that is done;
 * `merger.ts merge STEP` kills itself before the step with this number of the first of them: begin, each statement, commit, and what comes
 * after it; `merger.ts merge commit` before its commit, whatever number that has.
 */
import { writeSync } from 'node:fs'
import { driverOf } from '#db/engine/sqlite/handle.ts'
import { compose } from '#src/compose.ts'
import { loadConfig } from '#src/config.ts'
import { BOT_ACTOR } from '#src/domain/audit.ts'
import { connectTelegram } from '#src/domain/customers/linking.ts'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { redeemGift } from '#src/domain/subscriptions/gifts.ts'
import { grant } from '#src/domain/subscriptions/subscriptions.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { accountOf, codeOf, customerOf, giftOf } from './merged-pairs.ts'

const [what, given] = process.argv.slice(2)
const { services: s } = await compose(loadConfig(process.env, process.cwd(), GATEWAYS), {
  init: false,
})
const raw = driverOf(s.db)
const say = (line: string) => writeSync(1, `${line}\n`)

/** One of a pair: a subscription of an admin's, one that was paid, one of a gift, three devices, two links. */
async function fillOne(tgId: number, pair: number): Promise<void> {
  const at = '2026-01-01T00:00:00'
  const run = (sql: string, ...values: unknown[]) => raw.prepare(sql).run(...values)
  const token = (kind: string) => `${kind}-of-${tgId}`.padEnd(43, 'x')
  run('insert into users (tg_id, telegram_id, token, created_at) values (?, ?, ?, ?)', [
    ...[tgId, tgId > 0 ? tgId : null, token('token'), at],
  ])
  run("insert into user_tokens values (?, ?, 'imported', null, ?)", token('imported'), tgId, at)
  for (const hwid of ['device-both', `device-one-${tgId}`, `device-two-${tgId}`]) {
    run(
      'insert into devices (tg_id, hwid, created_at, last_seen_at) values (?, ?, ?, ?)',
      ...[tgId, hwid, at, at],
    )
  }
  await grant(s, BOT_ACTOR, tgId, { node: 'de1', plan: '1m' })
  run(
    "insert into gift_codes (code, node, plan, created_at) values (?, 'de1', '1m', ?)",
    ...[giftOf(tgId), at],
  )
  await redeemGift(s, tgId, giftOf(tgId))
  const payment = `payment-of-${tgId}`
  run(
    "insert into payments (id, tg_id, node, plan, provider, amount, currency, days, created_at, source) values (?, ?, 'de1', '1m', 'provider_a', 199, 'RUB', 30, ?, 'bot')",
    ...[payment, tgId, at],
  )
  await confirmPayment(s, payment, { state: 'paid', amount: '199.00', currency: 'RUB' })
  if (tgId > 0) return
  run(
    'insert into link_codes values (?, ?, ?)',
    ...[tgId, sha256Hex(codeOf(pair)), '9999-12-31T23:59:59'],
  )
}

/** Counts what a transaction has SQLite do, from its begin on, and ends the process before the step that is given. */
function dieBefore(step: string): void {
  const statement = Object.getPrototypeOf(raw.prepare('select 1'))
  let done = 0
  let begun = false
  for (const name of ['run', 'get', 'all'] as const) {
    const original = statement[name]
    statement[name] = function count(this: { source: string }, ...values: unknown[]) {
      begun ||= /^begin immediate/i.test(this.source)
      if (begun) done++
      const isIt = step === 'commit' ? /^commit/i.test(this.source) : done === Number(step)
      if (begun && isIt) {
        say(`step ${done} ${this.source.split(' ').slice(0, 3).join(' ')}`)
        process.kill(process.pid, 'SIGKILL')
      }
      return original.apply(this, values)
    }
  }
}

if (what === 'fill') {
  // Numbers below 0 are given in their order.
  raw.prepare("insert into sequences (name, last) values ('customers', ?)").run(Number(given))
  for (let pair = 1; pair <= Number(given); pair++) {
    await fillOne(customerOf(pair), pair)
    await fillOne(accountOf(pair), pair)
  }
} else {
  const left = raw.prepare('select -tg_id from link_codes order by tg_id desc').pluck().all()
  if (given) dieBefore(given)
  for (const pair of left as number[]) {
    const contact = { tgId: accountOf(pair), username: null, lang: 'en' as const }
    const user = await connectTelegram(s, BOT_ACTOR, codeOf(pair), contact)
    say(typeof user === 'string' ? user : `merged ${pair}`)
  }
}
await s.background.idle()
say('done')
process.exit(0)
