/** The example gateway's own side, on loopback. */
import { randomUUID } from 'node:crypto'
import { startFakeSystem } from '#test/support/fakes/system.ts'

interface Invoice {
  id: string
  state: 'open' | 'paid' | 'void'
  order: string
  amount: string
  currency: string
  url: string
}

/** `key`: whoever brings it is the shop. */
export async function startFakeExample(key: string) {
  const invoices = new Map<string, Invoice>()
  const system = await startFakeSystem(({ method, path, headers, body }) => {
    if (headers.authorization !== `Bearer ${key}`) return { status: 401, json: { error: 'who?' } }
    if (path === '/account') return { status: 200, json: { ok: true } }
    if (method === 'POST' && path === '/invoices') {
      const { order, amount, currency } = JSON.parse(body)
      const known = [...invoices.values()].find((one) => one.order === order)
      const id = randomUUID()
      const url = `https://pay.example.com/${id}`
      const made: Invoice = known ?? { id, state: 'open', order, amount, currency, url }
      invoices.set(made.id, made)
      return { status: 200, json: made }
    }
    const found = invoices.get(path.replace('/invoices/', ''))
    return found ? { status: 200, json: found } : { status: 404, json: { error: 'unknown' } }
  })
  return Object.assign(system, {
    invoices,
    pay(id: string) {
      const found = invoices.get(id)
      if (!found) throw new Error(`no invoice ${id}`)
      found.state = 'paid'
    },
  })
}
