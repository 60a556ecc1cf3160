/** Gateways of which a shop is a token of Telegram or Crypto Pay: `<account>:<secret part>`. */
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'

/** The shop of the token in this setting; its id is the account, which stays when the token is made anew. */
export const tokenShop = (key: string): Pick<GatewayDescriptor, 'shop' | 'isComplete'> => ({
  shop(read) {
    const secret = read(key)
    return { shopId: secret.split(':')[0] ?? '', secret }
  },
  isComplete: ({ secret }) => secret !== '',
})
