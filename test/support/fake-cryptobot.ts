/** Crypto Pay, as far as it is used: https://help.crypt.bot/crypto-pay-api */
import { type FakeSystem, startFakeSystem } from './fake-system.ts'

export async function startFakeCryptobot(tokens: string[]): Promise<FakeSystem> {
  const system = await startFakeSystem(({ path, headers }) => {
    if (!tokens.includes(headers['crypto-pay-api-token'] ?? '')) {
      return { status: 401, json: { ok: false, error: { code: 401, name: 'UNAUTHORIZED' } } }
    }
    if (path !== '/api/getMe') {
      return { status: 405, json: { ok: false, error: { code: 405, name: 'METHOD_NOT_FOUND' } } }
    }
    const result = { app_id: 1, name: 'Shop', payment_processing_bot_username: 'CryptoBot' }
    return { status: 200, json: { ok: true, result } }
  })
  return Object.assign(system, { url: `${system.url}/api` })
}
