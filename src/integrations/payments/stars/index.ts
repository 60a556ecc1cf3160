/** Telegram Stars. What only the bot hears of them: bot/stars.ts. */
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { createStars } from './gateway.ts'

export const stars: GatewayDescriptor = { id: 'stars', connect: createStars }
