/** CryptoBot. */
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { createCryptobotGateway } from './gateway.ts'

export const cryptobot: GatewayDescriptor = { id: 'cryptobot', connect: createCryptobotGateway }
