/** Asking a payment's provider what became of it. */
import { api, ok } from './api.ts'

/** The payment's status, or `unanswered`: its provider said nothing. */
export async function checkPayment(id: string) {
  const answer = api.payments[':payment_id'].check.$post({
    param: { payment_id: encodeURIComponent(id) },
  })
  const { status } = await ok(answer)
  return (await answer).headers.get('x-provider-answer') === 'none' ? 'unanswered' : status
}
