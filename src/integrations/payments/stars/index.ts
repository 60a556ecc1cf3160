/** Telegram Stars, taken by the bot. What only the bot hears of them: bot/stars.ts. */
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { tokenShop } from '../token-shop.ts'
import { createStars } from './gateway.ts'

export const stars: GatewayDescriptor = {
  id: 'stars',
  docs: 'Telegram Stars',
  enabledKey: 'STARS_ENABLED',
  settings: [],
  note: {
    en: 'Stars need no credentials: the bot takes them as soon as it is on. Plans need a price in Stars.',
    ru: 'Для Stars не нужны ключи: бот принимает их, как только они включены. У тарифов должна быть цена в Stars.',
  },
  apiUrl: { key: 'TELEGRAM_API_URL', fallback: 'https://api.telegram.org' },
  currency: 'XTR',
  ...tokenShop('BOT_TOKEN'),
  label: () => 'Telegram Stars',
  connect: createStars,
}
