/** Words of the payments, and what its parts are given. */
import type { api, Row } from '#src/admin-ui/api.ts'
import { money, userName } from '#src/admin-ui/format.ts'
import { paymentsEn } from '#src/admin-ui/i18n/payments.en.ts'
import { paymentsRu } from '#src/admin-ui/i18n/payments.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'

export const paymentTexts = catalogue({ en: paymentsEn, ru: paymentsRu })

export type Payment = Row<typeof api.payments.$get>

/** How a payment is called in questions: its amount and its user. */
export const namesOf = (payment: Payment) =>
  [money(payment.amount, payment.currency), userName(payment)] as const

/** What was bought: a plan, or a traffic pack. */
export const goodsOf = ({ pack_label, plan_label }: Payment) =>
  pack_label === undefined ? plan_label : paymentTexts().traffic(pack_label)
