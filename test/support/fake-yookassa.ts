/** YooKassa's API v3, as far as it is used: https://yookassa.ru/developers/api */
import { type Asked, type FakeSystem, type Reply, startFakeSystem } from './fake-system.ts'

const refusal = (status: number, code: string, description: string, parameter?: string): Reply => ({
  status,
  json: { type: 'error', id: crypto.randomUUID(), code, description, parameter },
})

export interface FakeYookassa extends FakeSystem {
  /** Secret keys by shop id. */
  shops: Record<string, string>
  /** What `/me` answers other than 200. */
  meRefusal: 403 | 404 | 429 | 500 | null
  /** What `/payments` answers other than 200. */
  listRefusal: 403 | 500 | null
}

const REFUSALS = {
  403: () => refusal(403, 'forbidden', 'Not enough rights'),
  404: () => refusal(404, 'not_found', 'Not found'),
  429: () => refusal(429, 'too_many_requests', 'Too many requests'),
  500: () => refusal(500, 'internal_server_error', 'Internal server error'),
} as const

function isKnown(shops: Record<string, string>, { headers }: Asked): boolean {
  const [scheme, credentials = ''] = (headers.authorization ?? '').split(' ')
  const [shop = '', key] = Buffer.from(credentials, 'base64').toString().split(':')
  return scheme === 'Basic' && key !== undefined && shops[shop] === key
}

export async function startFakeYookassa(shops: Record<string, string>): Promise<FakeYookassa> {
  const system = await startFakeSystem((asked) => {
    if (!isKnown(fake.shops, asked)) {
      const text = 'Error in shopId or secret key. Check their validity.'
      return refusal(401, 'invalid_credentials', text, 'Authorization')
    }
    if (asked.path === '/v3/me') {
      if (fake.meRefusal) return REFUSALS[fake.meRefusal]()
      const fiscalization = { enabled: true, provider: 'avanpost' }
      const me = { account_id: '100500', status: 'enabled', test: true, fiscalization }
      return { status: 200, json: { ...me, payment_methods: ['bank_card'], itn: '0123456789' } }
    }
    if (asked.path === '/v3/payments?limit=1') {
      if (fake.listRefusal) return REFUSALS[fake.listRefusal]()
      return { status: 200, json: { type: 'list', items: [] } }
    }
    return REFUSALS[404]()
  })
  const { reset } = system
  const fake: FakeYookassa = Object.assign(system, {
    url: `${system.url}/v3`,
    shops,
    meRefusal: null,
    listRefusal: null,
    reset() {
      reset()
      fake.meRefusal = null
      fake.listRefusal = null
    },
  })
  return fake
}
