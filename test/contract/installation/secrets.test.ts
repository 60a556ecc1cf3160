import { afterAll, expect, test } from 'vitest'
import { seedWebhookSecret } from '#src/domain/installation/first-start.ts'
import type { Http } from '#src/http/context.ts'
import { adminApi } from '#src/http/panel.ts'
import type { Services } from '#src/services.ts'
import { startFakeCryptobot } from '#test/support/fakes/cryptobot.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { startFakeYookassa } from '#test/support/fakes/yookassa.ts'
import { expectKept, settingsOf } from '#test/support/rows/secrets.ts'
import { createWorld } from '#test/support/worlds/world.ts'

const SECRETS = {
  token: '5550001:AAE-secret-bot-token-0123456789abcdef',
  a: 'live_secret-key-of-provider-a',
  b: 'secret-key-of-provider-b',
  crypto: '777:secret-token-of-crypto-pay',
}
const telegram = await startFakeTelegram({ [SECRETS.token]: 'shop_bot' })
const yookassa = await startFakeYookassa({ '100500': SECRETS.a, '100600': SECRETS.a })
const crypto = await startFakeCryptobot([SECRETS.crypto])
afterAll(() => Promise.all([telegram.close(), yookassa.close(), crypto.close()]))

const environment = {
  TELEGRAM_API_URL: telegram.url,
  PROVIDER_A_API_URL: yookassa.url,
  CRYPTOBOT_API_URL: crypto.url,
}

test('no answer, no log line and no other table holds a secret that was saved', async () => {
  const w = await createWorld({ environment })
  try {
    const said: string[] = []
    const save = async (path: string, body: object) => {
      const answer = await w.admin(`/admin/api${path}`, { body })
      expect(answer.status, path).toBe(200)
      said.push(answer.text)
      return answer.json
    }
    await save('/settings/bot', { token: SECRETS.token })
    await save('/payments/provider-a-settings', { shop_id: '100500', secret_key: SECRETS.a })
    await save('/payments/provider-a-settings', { shop_id: '100600', secret_key: SECRETS.a })
    await save('/payments/provider-b-settings', { merchant_id: 'm', secret: SECRETS.b })
    await save('/payments/provider-b-settings', { merchant_id: 'n', secret: `${SECRETS.b}2` })
    await save('/payments/providers/cryptobot', { token: SECRETS.crypto })
    const { secret } = (
      await w.admin('/admin/api/settings/webhook', { body: { url: 'https://hook.test/' } })
    ).json
    const routes = adminApi(w.s as Services as Http).routes
    const paths = new Set(
      routes
        .filter(({ method, path }) => method === 'GET' && !path.includes(':'))
        .map((r) => r.path),
    )
    paths.delete('/backup')
    expect(paths.size).toBeGreaterThan(15)
    for (const path of paths) said.push((await w.admin(`/admin/api${path}`)).text)
    for (const path of ['/', '/offer', '/privacy', '/pay/done', '/cabinet.html', '/api/plans']) {
      said.push((await w.call(path, { host: 'site.test' })).text)
    }
    for (const one of [...Object.values(SECRETS), secret]) expectKept(w, one, ...said)
    const [installation] = w.rows('select secret from installation')
    const key = Buffer.from(installation.secret, 'hex')
    for (const form of ['hex', 'base64', 'base64url'] as const) {
      for (const text of said)
        expect(text.toLowerCase()).not.toContain(key.toString(form).toLowerCase())
      expect(w.log.join('\n')).not.toContain(key.toString(form))
      expect(w.dump('installation')).not.toContain(key.toString(form))
    }
  } finally {
    w.close()
  }
})

test('a webhook address of the environment gets its secret at the start, once', async () => {
  const w = await createWorld({ environment: { WEBHOOK_URL: 'https://hook.test/' } })
  try {
    await seedWebhookSecret(w.s)
    const { WEBHOOK_SECRET: secret } = settingsOf(w)
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    await seedWebhookSecret(w.s)
    const saved = await w.admin('/admin/api/settings/webhook', { body: { url: 'https://b.test/' } })
    expect(saved.json).toEqual({ ok: true, url: 'https://b.test/' })
    expect(settingsOf(w).WEBHOOK_SECRET).toBe(secret)
  } finally {
    w.close()
  }
})

test.each([{}, { WEBHOOK_URL: 'https://hook.test/', WEBHOOK_SECRET: 'of the environment' }])(
  'a start generates no webhook secret where none is missing: %j',
  async (given) => {
    const w = await createWorld({ environment: given })
    try {
      await seedWebhookSecret(w.s)
      expect(settingsOf(w).WEBHOOK_SECRET).toBeUndefined()
    } finally {
      w.close()
    }
  },
)
