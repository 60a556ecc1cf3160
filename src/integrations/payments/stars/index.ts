/** Telegram Stars, taken by the bot. What only the bot hears of them: bot/stars.ts. */
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { tokenShop } from '../token-shop.ts'
import { createStars } from './gateway.ts'

export const stars: GatewayDescriptor = {
  id: 'stars',
  enabledKey: 'STARS_ENABLED',
  settings: [],
  apiUrl: { key: 'TELEGRAM_API_URL', fallback: 'https://api.telegram.org' },
  currency: 'XTR',
  ...tokenShop('BOT_TOKEN'),
  label: () => 'Telegram Stars',
  connect: createStars,
}
