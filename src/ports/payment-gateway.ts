/** What the payment rules ask of a gateway, and what it may answer. */
import type * as v from 'valibot'
import type { Payment } from '#db/schema/index.ts'
import type { Clock } from '#src/lib/clock.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import type { Outbound } from './outbound.ts'

/** What a gateway is asked with: the shop that a payment was made with, as it was then. */
export interface ShopCredentials {
  /** Of Stars and CryptoBot, which have only a token, the account that it belongs to. */
  shopId: string
  /** Stars: the bot's token. CryptoBot: the app's token. */
  secret: string
  preset?: string | undefined
  apiUrl?: string | undefined
}

/** A payment as a gateway must know it. */
export interface Order {
  /** Ours; also the Idempotence-Key. */
  paymentId: string
  /** Whole units: 199 is 199.00. Stars: the number of stars. */
  amount: number
  currency: string
  description: string
  tgId: number
  username: string | null
  lang: string
  /** Where the buyer's browser returns to. */
  returnUrl: string
  /** Where the gateway may send its notice, where it takes an address per payment. */
  noticeUrl: string
  /** 54-FZ; absent: none is sent. */
  receipt?: { email: string; vatCode: number } | undefined
}

/** Why there is no answer, and after how long (null: whenever) to ask again: a gateway that says it wants to be left alone until then. */
export interface Unanswered {
  reason: string
  retryAfterMs: number | null
}

export type Created =
  | { outcome: 'created'; externalId: string; payUrl: string; expiresAt: Date | null }
  /** The gateway said no: it won't by asking again. `reason` is for the admin. */
  | { outcome: 'refused'; reason: string }
  /** Nobody knows whether it exists: ask again with the same order. */
  | ({ outcome: 'unknown' } & Unanswered)

export interface Refund {
  /** The whole amount went back. */
  refunded?: boolean | undefined
  /** What went back of it, where that is less. */
  refundedPart?: string | undefined
}

export type PaymentState =
  | { state: 'pending' }
  /** Fields that the gateway's answer has; the rules compare them where they are there. */
  | ({
      state: 'paid'
      /** Whose it is: our id of a payment, as the gateway was told it. */
      paymentId?: string | undefined
      amount?: string | undefined
      currency?: string | undefined
      test?: boolean | undefined
    } & Refund)
  | { state: 'failed'; reason: string }
  /** No answer, an error, or one that can't be read: never a reason to fail a payment. */
  | ({ state: 'unknown' } & Unanswered)

export type PaidState = Extract<PaymentState, { state: 'paid' }>

/** Whether a gateway knows credentials. `unreachable`: no connection, no answer in time, or none that it would itself give. */
export type CredentialCheck =
  | { outcome: 'accepted' | 'rejected' }
  | { outcome: 'unreachable'; reason: string }

/** Every call ends by itself within 10 s (YooKassa's `create`: 20 s, its `listSucceeded`: 70 s) and never throws. */
export interface PaymentGateway {
  /** Whether asking again with the same order gives the same payment (Idempotence-Key). */
  idempotent: boolean
  create(order: Order, shop: ShopCredentials): Promise<Created>
  check(payment: { id: string; externalId: string }, shop: ShopCredentials): Promise<PaymentState>
  /** Whether it takes these credentials; only of a gateway that can be asked. */
  verify?(shop: ShopCredentials): Promise<CredentialCheck>
  /**
   * All payments made since then that succeeded; why there are none when the gateway gave no usable answer to any part of the
   * question. Only of a gateway that lists them.
   */
  listSucceeded?(since: Date, shop: ShopCredentials): Promise<SucceededPayment[] | Unanswered>
}

/** A payment that a gateway counts as paid. */
export interface SucceededPayment extends Refund {
  externalId: string
  /** Ours, where the payment was made by this service. */
  paymentId: string | null
  amount: string
  currency: string
}

/** What a gateway is reached with. */
export interface GatewayParts {
  /** The address of its API, without slashes at its end. */
  apiUrl: string
  outbound: Outbound
  clock: Clock
  /** Instead of the gateway's own limits. */
  timeoutMs?: number | undefined
}

/** The present value of a setting by its key, empty where there is none. */
export type ReadSetting = (key: string) => string

/** What was sent to one of a gateway's addresses for notices. */
export interface NoticeRequest {
  header(name: string): string | null
  /** The bytes as they came, read when they are asked for. What it throws is thrown on. */
  body(): Promise<Uint8Array>
}

/** What a notice says, and how far it is to be believed. */
export type Notice =
  /** Nothing that a payment waits for. */
  | { says: 'nothing' }
  /**
   * Not to be believed, or not to be read. `refundOf`: what the gateway calls a payment that is asked about all the same, as its money
   * may have gone back.
   */
  | { says: 'refused'; status: 400 | 401 | 404; error: string; refundOf?: string }
  /** Something of the first payment with one of these ids, ours or the gateway's: only its answer is believed. */
  | { says: 'ask'; ids: string[] }
  /**
   * The same from a gateway whose notices repeat our id. One that names no payment is refused with 400, and the gateway asked what
   * it calls `externalId`, unless that is empty: it may be money that no row knows.
   */
  | { says: 'ask own'; id: string; externalId: string }
  /** Signed: the first payment with one of these ids is paid. */
  | { says: 'paid'; ids: string[]; state: PaidState }

/** An address for notices. */
export interface NoticeRoute {
  /** The last part of the address. */
  name: string
  /** What the description of the API says of it, and the schemas of its headers. */
  summary: string
  headers?: Record<string, v.GenericSchema>
  body: v.GenericSchema
  /** A body that does not fit is passed over, not refused. */
  lenient?: true
  refusals?: readonly (401 | 404)[]
  read(request: NoticeRequest, setting: ReadSetting): Promise<Notice>
}

/** A text of the panel in its languages. */
export interface Words {
  en: string
  ru: string
}

/** A setting of a gateway, which has forms of its own. */
export interface GatewaySetting extends Omit<LiveSetting, 'field'> {
  /** Its name in the API, and others that requests may have for it. */
  name: string
  aliases?: readonly string[]
  label: Words
  /** A request that sets all of them may leave it out. */
  optional?: true
  /** Where it is one of a few. */
  options?: readonly { value: string; label: Words }[]
  /** What a request may bring, where that is more. */
  given?: v.GenericSchema<unknown, string>
  /** What counts of it, where that may be something else than its value. */
  shown?(read: ReadSetting): string
  /** It says where the gateway is: an address that the panel gives is checked as every other that is asked. */
  isAddress?: true
}

/** All that the service knows of a gateway; a folder of integrations/payments each (docs/gateways.md). */
export interface GatewayDescriptor {
  /** What rows, routes and buttons call it, never to be changed: at most 30 of `a-z0-9_`, a letter first. */
  id: string
  /** What the table of settings in docs/deploying.md calls it. */
  docs: string
  /** The key of the setting that switches it on. */
  enabledKey: string
  /** Its settings but that one, as forms have them. */
  settings: readonly GatewaySetting[]
  /** What the panel says in place of a form, where there is nothing to set. */
  note?: Words
  /**
   * The route that it has for its settings, which also switches it and sales on; `reading` and `saving` say so in the description of the
   * API. Gateways without one have them set by `providers/{id}`, which switches nothing that it is not told to.
   */
  ownRoute?: { name: string; reading: string; saving: string }
  /** The variable of the environment that moves its API; left out: the shop says where it is. */
  apiUrl?: { key: string; fallback: string }
  /** The gateways that it can be, where it can be several. */
  presets?: readonly string[]
  /** The only currency that it takes, where that is not the shop's. */
  currency?: string
  /** The shop of its settings, its secret empty where none is set. */
  shop(read: ReadSetting): ShopCredentials
  /**
   * The rows that these values of its settings, by their keys, are written as; left out: as they are. `present` and `environment`
   * read what counts now and what would without any row. Throws 400.
   */
  rows?(
    values: Partial<Record<string, string>>,
    present: ReadSetting,
    environment: ReadSetting,
  ): Record<string, string | null>
  /** Whether a shop has all that taking a payment needs. */
  isComplete(shop: ShopCredentials): boolean
  /** What people know it as. */
  label(shop: ShopCredentials): string
  /** Where it sends notices; left out: nowhere. */
  notices?: readonly NoticeRoute[]
  /** The last part of the address that it is told for the shop's notices; left out: its id. */
  noticeName?(shop: ShopCredentials): string
  connect(parts: GatewayParts): PaymentGateway
}

/** By the ids of their descriptors. A payment's provider may be one of an earlier version. */
export type PaymentGateways = Record<string, PaymentGateway>

/** What became of asking a provider for a payment: its row with the link, or why there is none. */
export type Completion = { payment: Payment } | Exclude<Created, { outcome: 'created' }>
