/** A shop of two plans that give different things: 1m, one server at 10 a day, and 3m, the group `all` at 20 a day; and what is asked of changes there. */
import { ownIdOf } from '#src/domain/secret.ts'
import { addSubscription } from '#test/support/rows/records.ts'
import type { Answer } from './answer.ts'
import { createGroupShop, type GroupShop } from './group-shop.ts'

type Values = Record<string, string | number | null>

export interface ChangeShop extends GroupShop {
  /** A subscription of user 1 by 1m on the local node, whose client is there; gives its uuid. */
  basic(more?: Values): Promise<string>
  /** Asks as its owner, by the id that they know. */
  change(uuid: string, body?: object, token?: string): Promise<Answer>
  choices(uuid: string): Promise<Answer>
  // biome-ignore lint/suspicious/noExplicitAny: tests read columns of unknown type
  all(uuid: string): any
  /** A renewal that waits for its money; gives what `paid` takes. */
  ordered(uuid: string, plan?: string): Promise<{ id: string; externalId: string }>
  /** It is paid, and a notice tells of it. */
  paid(payment: { id: string; externalId: string }): Promise<void>
  /** Sets a plan as admins do. */
  setPlan(code: string, changes: object): Promise<void>
}

export async function createChangeShop(): Promise<ChangeShop> {
  const shop = await createGroupShop()
  const { w, token } = shop
  const pathOf = (uuid: string, owner: string) =>
    `/api/cabinet/${owner}/subscriptions/${ownIdOf(w.s, uuid)}/change`
  const setPlan = async (code: string, changes: object) => {
    const { status, text } = await shop.api(`plans/${code}`, changes, 'PATCH')
    if (status !== 200) throw new Error(text)
  }
  await setPlan('1m', { price: 300, label: 'Basic' })
  await setPlan('3m', { price: 1800, label: 'All servers' })
  return {
    ...shop,
    async basic(more = {}) {
      const uuid = addSubscription(w, 1, more)
      await w.s.nodeSync.syncAll({ force: false, remove: true })
      return uuid
    },
    async change(uuid, body, owner = token) {
      const answer = await w.call(pathOf(uuid, owner), { method: 'POST', body })
      await w.s.background.idle()
      return answer
    },
    choices: (uuid) => w.call(pathOf(uuid, token)),
    all: (uuid) => w.rows('select * from subscriptions where uuid = ?', uuid)[0],
    async ordered(uuid, plan = '1m') {
      const order = { tg_id: 1, plan, provider: 'provider_a', renews: uuid }
      const { json, text } = await shop.api('payments', order)
      if (!json?.id) throw new Error(text)
      return { id: json.id, externalId: shop.payment(json.id).external_id }
    },
    async paid({ id, externalId }) {
      shop.a.pay(externalId)
      await shop.noticeA(id, { externalId })
      await w.s.background.idle()
    },
    setPlan,
  }
}
