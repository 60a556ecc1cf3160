/** What differs between the gateways that provider B can be. One file per preset; gateway.ts does the rest. */
import type { JsonObject } from '#src/lib/json.ts'
import type { Order, PaymentState, ShopCredentials } from '#src/ports/payment-gateway.ts'

export interface Preset {
  headers(shop: ShopCredentials): Record<string, string>
  /** Where payments are made, below the address of the API. */
  creationPath: string
  /** Bodies to try, the next one when the gateway refuses the one before. */
  creations(order: Order): JsonObject[]
  /** The payment in the answer to a creation; null when it can't be read. `lifeMs`: how long the link is good for. */
  readCreated(body: JsonObject): CreatedPayment | null
  /** Where a payment is asked about; null when it can't be. */
  checkPath(externalId: string): string | null
  /** The state in the answer about a payment; null when it can't be read, or is another payment's. */
  readState(body: JsonObject, externalId: string): PaymentState | null
}

export interface CreatedPayment {
  externalId: string
  /** Null: the gateway made a payment without one. */
  payUrl: string | null
  lifeMs: number | null
}
