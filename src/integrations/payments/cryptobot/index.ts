/** CryptoBot. */
import { secretText } from '#src/lib/values.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { tokenShop } from '../token-shop.ts'
import { createCryptobotGateway } from './gateway.ts'
import { noticesOf } from './notices.ts'

const TOKEN = 'CRYPTOBOT_TOKEN'

export const cryptobot: GatewayDescriptor = {
  id: 'cryptobot',
  docs: 'CryptoBot',
  enabledKey: 'CRYPTOBOT_ENABLED',
  settings: [
    {
      key: TOKEN,
      name: 'token',
      label: { en: 'Token from @CryptoBot', ru: 'Токен от @CryptoBot' },
      secret: true,
      value: secretText(256),
      docs: 'token of the app in [@CryptoBot](https://t.me/CryptoBot)',
    },
  ],
  apiUrl: { key: 'CRYPTOBOT_API_URL', fallback: 'https://pay.crypt.bot/api' },
  ...tokenShop(TOKEN),
  notices: [noticesOf(TOKEN)],
  label: () => 'CryptoBot',
  connect: createCryptobotGateway,
}
