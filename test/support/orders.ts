/** What gateways are asked for in tests. */
import type { Order } from '#src/ports/payment-gateway.ts'

export const PAYMENT_ID = '5b0c2f5e-6d0e-4b46-9df0-6a5b1c7a0001'

export const order = (changes: Partial<Order> = {}): Order => ({
  paymentId: PAYMENT_ID,
  amount: 199,
  currency: 'RUB',
  description: 'Subpanel: 30 days',
  tgId: 1001,
  username: 'ada',
  lang: 'ru',
  returnUrl: 'https://site.test/pay/done',
  noticeUrl: 'https://panel.test/payments/webhook/provider_b',
  ...changes,
})
