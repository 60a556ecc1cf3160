/** More traffic for an own subscription that has a quota: which pack, which way to pay. */
import type { InlineKeyboard } from 'grammy/web'
import type { TrafficPack } from '#db/schema/index.ts'
import type { Shop } from '#src/domain/payments/offer.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { packOfLink, takesTraffic } from '#src/domain/traffic-packs.ts'
import { findByShort, shortOf, tapData } from './callback-data.ts'
import { column } from './keyboards.ts'
import { showStale } from './menu.ts'
import { pay } from './pay.ts'
import { type BotRequest, show, type Work } from './request.ts'
import { priceText, shopOf, type Way, waysToPay } from './sale.ts'
import { findOwn, type OwnSubscription } from './subscriptions.ts'

/** So many stand under a subscription, which has other buttons too. */
const MOST_PACKS = 10

type Button = [label: string, data: string]

/** The packs that this user can pay for, and their buttons: `➕ 50 GB · 99 ₽`. */
function offeredPacks(
  v: BotRequest,
  shop: Shop,
  id: string,
): { pack: TrafficPack; button: Button }[] {
  if (!shop.open) return []
  const offered = shop.packs.flatMap((pack) => {
    const [way] = waysToPay(v, shop, pack)
    if (!way) return []
    const label = `➕ ${pack.label} · ${priceText(v, way)}`
    return [{ pack, button: [label, tapData('t', id, shortOf(pack.code))] as Button }]
  })
  return offered.slice(0, MOST_PACKS)
}

const isOffered = ({ row, shown }: OwnSubscription) => takesTraffic(row, shown.state)

/** Adds a row for each pack that is sold for a subscription. */
export function addPackRows(v: BotRequest, keyboard: InlineKeyboard, own: OwnSubscription): void {
  if (!isOffered(own)) return
  for (const { button } of offeredPacks(v, shopOf(v), ownIdOf(v.s, own.row.uuid))) {
    keyboard.text(...button).row()
  }
}

async function chooseWay(v: BotRequest, own: OwnSubscription, pack: TrafficPack, ways: Way[]) {
  const id = ownIdOf(v.s, own.row.uuid)
  const rows = ways.map(
    (way): Button => [
      `${way.label} · ${priceText(v, way)}`,
      tapData('t', id, shortOf(pack.code), way.id),
    ],
  )
  const text = v.t.chooseProvider(own.shown.node, pack.label)
  await show(v, text, column([...rows, [v.t.back, tapData('s', id)]]))
}

/** The next step towards a payment: the way to pay, unless there is but one. */
async function proceed(v: BotRequest, own: OwnSubscription, pack: TrafficPack, provider?: string) {
  const ways = waysToPay(v, shopOf(v), pack)
  if (provider === undefined && ways.length > 1) return chooseWay(v, own, pack, ways)
  const way = provider === undefined ? ways[0] : ways.find(({ id }) => id === provider)
  if (!way) return showStale(v)
  const { node, plan } = own.shown
  await pay(v, way, {
    wanted: { kind: 'traffic', pack: pack.code, renews: own.row.uuid },
    text: (price) => v.t.packSale({ node, plan, pack: pack.label, price, provider: way.label }),
    back: tapData('s', ownIdOf(v.s, own.row.uuid)),
  })
}

async function open(
  v: BotRequest,
  id: string,
  find: (packs: TrafficPack[]) => TrafficPack | undefined,
  provider?: string,
) {
  const own = await findOwn(v, id)
  if (!own || !isOffered(own)) return showStale(v)
  const packs = offeredPacks(v, shopOf(v), id).map((one) => one.pack)
  const pack = find(packs)
  return pack ? proceed(v, own, pack, provider) : showStale(v)
}

/** A button of the sale of traffic. */
export const topUp: Work = (v, [id = '', pack, provider]) =>
  open(v, id, (packs) => findByShort(packs, pack), provider)

/** Opens the sale of a pack that a link names. */
export function openPack(v: BotRequest, rest: string): Promise<void> {
  const { id, code } = packOfLink(rest)
  return open(v, id, (packs) => packs.find((pack) => pack.code === code))
}
