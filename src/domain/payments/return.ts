/** The way back from paying: a key in the link tells how a payment stands, and, once it is paid, what the buyer's link is. */
import { readPayment } from '#db/payments.ts'
import type { Payment, User } from '#db/schema/index.ts'
import { listTokensOfUser, readUser } from '#db/users.ts'
import { installationHmac } from '#src/domain/secret.ts'
import type { Settings } from '#src/domain/settings.ts'
import { equalSecrets } from '#src/lib/crypto.ts'
import { base64url } from '#src/lib/encoding.ts'
import { HOUR_MS, parseTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { sellsToGuests } from './guests.ts'

type Deps = Pick<Services, 'db'>

/** The link is told for so long after the payment: in another browser, too, than that in which it was begun. */
const TOLD_MS = 24 * HOUR_MS

/** By payment and link: whoever else comes to have the payment, and a link that takes the place of this one, is not told by it. */
const proofOf = (s: Deps, id: string, token: string): string =>
  base64url(installationHmac(s, 'payment status', id, token).subarray(0, 16))

/** The path to which a provider sends who has paid. The key is in the fragment, which no server on the way sees. */
export function returnTo(
  s: Deps,
  settings: Settings,
  { id, source, token }: Pick<Payment, 'id' | 'source'> & { token: string },
): string {
  const isKeyed = source === 'site' && sellsToGuests(settings)
  return isKeyed ? `/pay/done#${id}.${proofOf(s, id, token)}` : '/pay/done'
}

export interface PaymentState {
  status: Payment['status']
  /** The token of the link that it was bought by; null until it is paid, and a day later. */
  token: string | null
  /** Whose it is; undefined where the token is null. */
  buyer: User | undefined
}

/** How the payment of a key stands. Throws 404 for a key that is none, or whose link has ended. */
export async function readReturn(
  s: Pick<Services, 'db' | 'clock'>,
  key: string,
): Promise<PaymentState> {
  const [id = '', proof = ''] = key.split('.')
  const now = s.clock.now().getTime()
  return s.db.read(function* (q) {
    const payment = yield* readPayment(q, id)
    const tokens = payment ? yield* listTokensOfUser(q, payment.tgId) : []
    const token = tokens.find((one) => equalSecrets(proof, proofOf(s, id, one)))
    if (!payment || token === undefined) throw refusal('not-found')
    const { status, paidAt } = payment
    const isTold = paidAt !== null && now - parseTimestamp(paidAt).getTime() < TOLD_MS
    return isTold
      ? { status, token, buyer: yield* readUser(q, payment.tgId) }
      : { status, token: null, buyer: undefined }
  })
}
