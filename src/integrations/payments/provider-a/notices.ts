/** YooKassa's notices (yookassa.ru/developers/using-api/webhooks). Nothing in them is signed. */
import * as v from 'valibot'
import { isJsonObject, jsonObject } from '#src/lib/json.ts'
import type { Notice, NoticeRoute } from '#src/ports/payment-gateway.ts'
import { idText, noticeId } from '../notice.ts'

const ACCEPTED = ['payment.succeeded', 'payment.waiting_for_capture', 'payment.canceled']
const EXTERNAL_ID = /^[0-9a-zA-Z-]{1,64}$/

const refused = (error: string): Notice => ({ says: 'refused', status: 400, error })

function readNotice(bytes: Uint8Array): Notice {
  const notice = jsonObject(bytes)
  if (!notice) return refused('invalid JSON')
  const object = isJsonObject(notice.object) ? notice.object : {}
  if (!ACCEPTED.some((event) => event === notice.event)) {
    const unsupported = { says: 'refused', status: 400, error: 'unsupported event' } as const
    if (notice.event !== 'refund.succeeded') return unsupported
    return { ...unsupported, refundOf: idText(object.payment_id) }
  }
  const id = isJsonObject(object.metadata) ? object.metadata.payment_id : undefined
  if (typeof id !== 'string' || id === '') return refused('payment_id is missing')
  const externalId = idText(object.id)
  return { says: 'ask own', id, externalId: EXTERNAL_ID.test(externalId) ? externalId : '' }
}

export const notices: NoticeRoute = {
  name: 'provider_a',
  summary: 'A notice of YooKassa; what it says is asked back',
  body: v.looseObject({
    event: v.picklist(ACCEPTED),
    object: v.looseObject({
      id: v.optional(noticeId),
      metadata: v.looseObject({ payment_id: v.pipe(v.string(), v.minLength(1)) }),
    }),
  }),
  read: async ({ body }) => readNotice(await body()),
}
