/** The cabinet's shop. */
import { rowId as id, token } from '#db/values.ts'
import { ok } from '#src/http/schemas/fields.ts'
import { connectLink, payLink, shop } from '#src/http/schemas/payment.ts'
import { openOperations } from '../operation.ts'
import { purchase } from '../shop.ts'

export const shopOperations = openOperations('Shop', [
  {
    path: '/api/cabinet/{token}/shop',
    summary: 'What the owner of a link can buy, with their subscriptions and devices',
    params: { token },
    ok: shop,
  },
  {
    method: 'post',
    path: '/api/cabinet/{token}/payments',
    summary: 'Make a pay link; the same order again gets the same one',
    params: { token },
    body: purchase,
    ok: payLink,
    refusals: [429],
  },
  {
    method: 'post',
    path: '/api/cabinet/{token}/link',
    summary: 'Make the link into the bot that connects a Telegram account; for 15 minutes, once',
    params: { token },
    ok: connectLink,
    refusals: [400, 429],
  },
  {
    method: 'delete',
    path: '/api/cabinet/{token}/devices/{device_id}',
    summary: 'Forget an own device, 3 a day; an unknown one is forgotten already',
    params: { token, device_id: id },
    ok,
    refusals: [429],
  },
])
