/** What of the live rows outlives a restore, which would else be forgotten: money, its owners, what was used up, and what tells of it. */
import type Sqlite from 'better-sqlite3'
import type { Former, FormerShop, RestoreFacts } from './facts.ts'
import { namesOf } from './names.ts'

const linksOf = (schema: 'main' | 'restored') =>
  `(SELECT tg_id, token FROM ${schema}.users UNION ALL SELECT tg_id, token FROM ${schema}.user_tokens)`

/**
 * Each installation counts customers without Telegram from -1: with an archive of another one, or of another life of this one, the same
 * number is somebody else, unless they came at the same second or have a link in common. Those of here get numbers that neither has given.
 */
const RENUMBER = `
  INSERT INTO temp.own_sequences SELECT 'customers', max(n) FROM (
    SELECT last AS n FROM main.sequences WHERE name = 'customers'
    UNION ALL SELECT last FROM restored.sequences WHERE name = 'customers'
    UNION ALL SELECT -min(tg_id) FROM main.users UNION ALL SELECT -min(tg_id) FROM restored.users)
    WHERE EXISTS (SELECT 1 FROM temp.renumbered) HAVING max(n) IS NOT NULL;
  ALTER TABLE temp.renumbered ADD COLUMN own;
  UPDATE temp.renumbered SET own = -nth - (SELECT max(last) FROM temp.own_sequences WHERE name = 'customers');
  UPDATE temp.own_sequences SET last = last + (SELECT count(*) FROM temp.renumbered) WHERE name = 'customers';
  ${['lost_payments', 'lost_buyers', 'lost_links']
    .map(
      (
        table,
      ) => `UPDATE temp.${table} SET tg_id = (SELECT own FROM temp.renumbered WHERE former = tg_id)
        WHERE tg_id IN (SELECT former FROM temp.renumbered);`,
    )
    .join('\n  ')}`

/**
 * What of the live rows outlives them; kept in temporary tables while they are replaced. Of payments: what is paid, what is in review, which
 * an earlier restore may have brought there, whose money went back, and bills that may be paid yet; whose they are, with their links, and the
 * keys by which gateways are asked about them.
 */
export const KEEP = `
  CREATE TEMP TABLE lost_payments AS SELECT * FROM main.payments AS p
    WHERE (status <> 'failed' OR review_reason IS NOT NULL OR refunded_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM restored.payments AS r
      WHERE r.id = p.id AND (r.refunded_at IS NOT NULL OR p.refunded_at IS NULL)
      AND (r.status = 'paid' AND (p.status <> 'paid' OR p.review_reason IS NULL OR r.review_reason IS NOT NULL)
        OR p.status = 'pending' AND p.review_reason IS NULL AND p.external_id IN ('', r.external_id)));
  CREATE TEMP TABLE renumbered AS SELECT u.tg_id AS former, row_number() OVER (ORDER BY u.tg_id DESC) AS nth
    FROM main.users AS u JOIN restored.users AS r ON r.tg_id = u.tg_id
    WHERE u.tg_id < 0 AND u.tg_id IN (SELECT tg_id FROM temp.lost_payments) AND u.created_at <> r.created_at
    AND NOT EXISTS (SELECT 1 FROM ${linksOf('main')} AS o JOIN ${linksOf('restored')} AS t ON t.token = o.token
      WHERE o.tg_id = u.tg_id AND t.tg_id = u.tg_id);
  CREATE TEMP TABLE lost_buyers AS SELECT * FROM main.users WHERE tg_id IN (SELECT tg_id FROM temp.lost_payments)
    AND (tg_id NOT IN (SELECT tg_id FROM restored.users) OR tg_id IN (SELECT former FROM temp.renumbered));
  CREATE TEMP TABLE lost_links AS SELECT * FROM main.user_tokens WHERE tg_id IN (SELECT tg_id FROM temp.lost_payments);
  CREATE TEMP TABLE own_shops AS SELECT * FROM main.former_credentials;
  CREATE TEMP TABLE lost_orphans AS SELECT * FROM main.orphan_payments AS o
    WHERE NOT EXISTS (SELECT 1 FROM restored.orphan_payments AS r
      WHERE r.provider = o.provider AND r.external_id = o.external_id);
  CREATE TEMP TABLE unsent_alerts AS SELECT * FROM main.outbox WHERE kind = 'alert' AND status IN ('ready', 'sending');
  CREATE TEMP TABLE own_installation AS SELECT * FROM main.installation;
  CREATE TEMP TABLE own_sequences AS SELECT * FROM main.sequences;
  ${RENUMBER}
  CREATE TEMP TABLE used_codes AS SELECT admin_id, code, used_at FROM main.recovery_codes WHERE used_at IS NOT NULL;
  CREATE TEMP TABLE used_steps AS SELECT totp_secret, max(totp_last_step) AS last_step FROM main.admins
    WHERE totp_last_step IS NOT NULL GROUP BY totp_secret;
`

/** Which restored payments (m) and which lost ones (p) are the same, as these columns: by their ids, or by what the provider calls them. */
const sameAsLost = (columns: string) => `
  SELECT ${columns} FROM temp.lost_payments AS p JOIN main.payments AS m ON m.id = p.id
  UNION ALL SELECT ${columns} FROM temp.lost_payments AS p JOIN main.payments AS m
    ON m.provider = p.provider AND m.external_id = p.external_id AND m.external_id <> ''`

/**
 * Paid payments that the restored rows do not know as paid come back for review, as pending: nothing was given for them there. What
 * was in review stays so, what went back is given for no more, and is in review where it was given for, and bills are asked about, by what
 * their provider calls them. Gives how many are in review.
 */
export function keepPayments(raw: Sqlite.Database, facts: RestoreFacts): number {
  const columns = namesOf(raw, 'payments')
  const granted = "id IN (SELECT id FROM main.payments WHERE status = 'paid')"
  raw
    .prepare(
      `UPDATE temp.lost_payments SET status = iif(status = 'paid', 'pending', status), paid_at = NULL,
       subscription_uuid = NULL, checks = 0,
       review_reason = CASE WHEN refunded_at IS NOT NULL AND (status = 'paid' OR ${granted}) THEN @refunded
         WHEN status = 'paid' AND NOT ${granted} THEN @unknown ELSE review_reason END,
       next_check_at = CASE WHEN refunded_at IS NULL AND status <> 'failed' THEN @at END,
       renews_uuid = (SELECT uuid FROM main.subscriptions WHERE uuid = renews_uuid)`,
    )
    .run({ refunded: facts.refundedReason, unknown: facts.reviewReason, at: facts.at })
  raw.exec(
    `UPDATE main.payments AS r SET review_reason = coalesce(f.review_reason, r.review_reason),
       refunded_at = coalesce(r.refunded_at, f.refunded_at),
       next_check_at = iif(f.refunded_at IS NULL, r.next_check_at, NULL)
     FROM (${sameAsLost('m.id, p.review_reason, p.refunded_at')}) AS f WHERE f.id = r.id;
     UPDATE main.payments AS r SET external_id = p.external_id, pay_url = p.pay_url,
       pay_url_expires_at = p.pay_url_expires_at, order_json = NULL
     FROM temp.lost_payments AS p WHERE p.id = r.id AND p.provider = r.provider AND r.external_id = '' AND p.external_id <> ''
       AND NOT EXISTS (SELECT 1 FROM main.payments AS o WHERE o.provider = p.provider AND o.external_id = p.external_id)`,
  )
  raw.exec(
    `INSERT INTO main.payments (${columns}) SELECT ${columns} FROM temp.lost_payments
     WHERE id NOT IN (${sameAsLost('p.id')}) ORDER BY seq`,
  )
  return raw
    .prepare('SELECT count(*) FROM temp.lost_payments WHERE review_reason IS NOT NULL')
    .pluck()
    .get() as number
}

/**
 * Whoever has bought or may be paying, and came after the backup, comes back with their links: what is given for their payment is theirs by
 * these, and a guest has nothing else. Not where the restored rows know their number, their Telegram id or their link as somebody's. Whom the
 * backup knows keep the links they have beside their present one: what a guest bought became theirs when they connected.
 */
export function keepBuyers(raw: Sqlite.Database): void {
  const columns = namesOf(raw, 'users')
  raw.exec(
    `INSERT INTO main.users (${columns}) SELECT ${columns} FROM temp.lost_buyers AS u
       WHERE NOT EXISTS (SELECT 1 FROM main.users AS o WHERE o.token = u.token)
       AND NOT EXISTS (SELECT 1 FROM main.users AS o WHERE o.telegram_id IN (u.tg_id, u.telegram_id))
       AND token NOT IN (SELECT token FROM main.user_tokens);
     INSERT OR IGNORE INTO main.user_tokens SELECT * FROM temp.lost_links
       WHERE tg_id IN (SELECT tg_id FROM main.users AS u
         WHERE NOT EXISTS (SELECT 1 FROM temp.lost_buyers AS l WHERE l.tg_id = u.tg_id AND l.token <> u.token))
       AND token NOT IN (SELECT token FROM main.users)`,
  )
}

/** Shops that payments went to until now, and those of before, count as former ones: what was ordered there can be asked about by their keys. */
export function keepShops(raw: Sqlite.Database, before: FormerShop[], after: FormerShop[]): void {
  const columns = namesOf(raw, 'former_credentials', 'id')
  const names = ['provider', 'shopId', 'secret', 'preset', 'apiUrl'] as const
  const isSame = (one: FormerShop, other: FormerShop) =>
    names.every((name) => one[name] === other[name])
  const add = raw.prepare(
    `INSERT INTO temp.own_shops (provider, shop_id, secret, preset, api_url, replaced_at)
     VALUES (@provider, @shopId, @secret, @preset, @apiUrl, @replacedAt)`,
  )
  for (const shop of before) if (!after.some((one) => isSame(one, shop))) add.run(shop)
  raw.exec(
    `INSERT INTO temp.own_shops (${columns}) SELECT ${columns} FROM main.former_credentials;
     DELETE FROM main.former_credentials;
     INSERT INTO main.former_credentials (provider, shop_id, secret, preset, api_url, replaced_at)
       SELECT provider, shop_id, secret, preset, api_url, max(replaced_at) FROM temp.own_shops
       GROUP BY 1, 2, 3, 4, 5 ORDER BY 6`,
  )
}

export function keepRest(raw: Sqlite.Database): void {
  // A backup from before this table brings none.
  raw.exec('INSERT OR IGNORE INTO main.installation SELECT * FROM temp.own_installation')
  // What was numbered after the backup keeps its number to itself: payments name it.
  raw.exec(
    `INSERT INTO main.sequences SELECT * FROM temp.own_sequences WHERE true
       ON CONFLICT DO UPDATE SET last = max(last, excluded.last)`,
  )
  const columns = namesOf(raw, 'orphan_payments', 'id')
  // What was given by hand for one of them is gone.
  raw.exec(
    `UPDATE temp.lost_orphans SET resolved_at = NULL;
     INSERT INTO main.orphan_payments (${columns}) SELECT ${columns} FROM temp.lost_orphans`,
  )
  // A code that was used after the backup must not work a second time.
  raw.exec(
    `UPDATE main.admins AS a SET totp_last_step = u.last_step FROM temp.used_steps AS u
     WHERE u.totp_secret = a.totp_secret AND u.last_step > coalesce(a.totp_last_step, 0)`,
  )
  raw.exec(
    `UPDATE main.recovery_codes AS c SET used_at = u.used_at FROM temp.used_codes AS u
     WHERE u.code = c.code AND c.used_at IS NULL`,
  )
  // Nor after the restore of a later backup that has it.
  raw.exec(
    `INSERT OR IGNORE INTO main.recovery_codes (admin_id, code, used_at) SELECT admin_id, code, used_at FROM temp.used_codes
     WHERE admin_id IN (SELECT id FROM main.admins)`,
  )
}

/**
 * What admins were to be told, and the restore itself, goes to those who were alerted before it, by the bot of then: who puts other
 * recipients or another bot in place by an archive keeps nothing from them.
 */
export function keepAlerts(
  raw: Sqlite.Database,
  { tgIds, botToken }: Pick<Former, 'tgIds' | 'botToken'>,
  { at }: RestoreFacts,
  { kind, payload }: ReturnType<RestoreFacts['message']>,
): void {
  const columns = namesOf(raw, 'outbox', 'id')
  raw.prepare('UPDATE temp.unsent_alerts SET bot_token = coalesce(bot_token, ?)').run(botToken)
  raw.exec(
    `INSERT INTO main.outbox (${columns}) SELECT ${columns} FROM temp.unsent_alerts ORDER BY id`,
  )
  const add = raw.prepare(
    'INSERT INTO main.outbox (tg_id, kind, payload, next_try_at, created_at, bot_token) VALUES (?, ?, ?, ?, ?, ?)',
  )
  for (const tgId of tgIds) add.run(tgId, kind, JSON.stringify(payload), at, at, botToken)
}
