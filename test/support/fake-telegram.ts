/** The Bot API, as far as it is used: https://core.telegram.org/bots/api#making-requests */
import { type FakeSystem, type Reply, startFakeSystem } from './fake-system.ts'

const refusal = (code: number, description: string, parameters?: object): Reply => ({
  status: code,
  json: { ok: false, error_code: code, description, ...(parameters ? { parameters } : {}) },
})

export interface FakeTelegram extends FakeSystem {
  /** Usernames of bots by token. */
  bots: Record<string, string>
  /** Whether it has had enough of requests. */
  flooded: boolean
}

export async function startFakeTelegram(bots: Record<string, string>): Promise<FakeTelegram> {
  const system = await startFakeSystem(({ path }) => {
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? []
    if (!/^\d+:[\w-]+$/.test(token)) return refusal(404, 'Not Found')
    const username = fake.bots[token]
    if (username === undefined) return refusal(401, 'Unauthorized')
    if (fake.flooded) return refusal(429, 'Too Many Requests: retry after 5', { retry_after: 5 })
    if (method !== 'getMe') return refusal(404, 'Not Found')
    const id = Number(token.split(':')[0])
    const result = { id, is_bot: true, first_name: 'Bot', username, can_join_groups: true }
    return { status: 200, json: { ok: true, result } }
  })
  const { reset } = system
  const fake: FakeTelegram = Object.assign(system, {
    bots,
    flooded: false,
    reset() {
      reset()
      fake.flooded = false
    },
  })
  return fake
}
