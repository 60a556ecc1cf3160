/** Labels of settings that several gateways have. */
import type { Words } from '#src/ports/payment-gateway.ts'

export const SECRET_KEY: Words = { en: 'Secret key', ru: 'Секретный ключ' }
