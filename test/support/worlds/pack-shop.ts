/** A shop that sells traffic: packs, subscriptions with a quota, and what tests ask of them. */
import { addSubscription } from '#test/support/rows/records.ts'
import { createGroupShop, type GroupShop } from './group-shop.ts'
import type { World } from './world.ts'

export const GB = 1024 ** 3

type Values = Record<string, string | number | null>

/** A pack of 50 GB for 99, or 60 Stars. */
export function addPack(w: World, code = '50gb', more: Values = {}): void {
  const row = { code, label: '50 GB', gb: 50, price: 99, price_stars: 60, sort_order: 1, ...more }
  w.change(
    `insert into traffic_packs (${Object.keys(row).join(', ')}) values (${Object.keys(row)
      .map(() => '?')
      .join(', ')})`,
    ...Object.values(row),
  )
}

/** What has used up all of its 10 GB, and has no periods. */
export const USED_UP: Values = {
  ...{ quota_bytes: 10 * GB, used_bytes: 10 * GB, quota_notice: 100 },
  limited_at: '2026-01-01T00:00:00',
}

export interface PackShop extends GroupShop {
  /** A subscription of user 1 that has used up its traffic; gives its uuid. */
  limited(more?: Values): string
  /** Orders a pack for a subscription, as the cabinet does. */
  order(renews: string, more?: Record<string, unknown>): ReturnType<World['call']>
  /** The same, and the payment's id and the gateway's. */
  bought(
    renews: string,
    more?: Record<string, unknown>,
  ): Promise<{ id: string; externalId: string }>
  /** It is paid at the gateway, and a notice tells of it. */
  pay(payment: { id: string; externalId: string }): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: tests read columns of unknown type
  quota(uuid: string): any
}

export async function createPackShop(): Promise<PackShop> {
  const shop = await createGroupShop()
  const { w } = shop
  addPack(w)
  const order = (renews: string, more: Record<string, unknown> = {}) => {
    const body = { kind: 'traffic', pack: '50gb', provider: 'provider_a', renews, ...more }
    return w.call(`/api/cabinet/${shop.token}/payments`, { body })
  }
  return {
    ...shop,
    limited: (more = {}) => addSubscription(w, 1, { ...USED_UP, ...more }),
    order,
    async bought(renews, more) {
      const { status, text, json } = await order(renews, more)
      if (status !== 200) throw new Error(`${status} ${text}`)
      return { id: json.id, externalId: shop.payment(json.id).external_id }
    },
    async pay({ id, externalId }) {
      shop.a.pay(externalId)
      await shop.noticeA(id, { externalId })
      await w.s.background.idle()
    },
    quota: (uuid) =>
      w.rows(
        'select quota_bytes, used_bytes, extra_bytes, limited_at, expires_at from subscriptions where uuid = ?',
        uuid,
      )[0],
  }
}
