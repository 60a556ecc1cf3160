/** The user card, grants, devices and the device limit of one user. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { listDevices } from '#db/devices.ts'
import { listOfUser } from '#db/subscriptions.ts'
import { findUser } from '#db/users.ts'
import { removeDevice, setHwidLimit, userDevices } from '#src/domain/devices.ts'
import { readSettings } from '#src/domain/settings.ts'
import { grant } from '#src/domain/subscriptions.ts'
import { badRequest, notFound } from '#src/lib/errors.ts'
import type { AppEnv, Http } from '../context.ts'
import { plainText, readId, readJson, readTgId } from '../validate.ts'
import { deviceView, subscriptionView } from '../views.ts'

const order = v.object({ node: plainText(64), plan: plainText(64) })

const MAX_HWID_LIMIT = 1_000_000

/** A falsy limit means the fallback limit; else an integer or a string of digits. Throws 400. */
function parseHwidLimit(limit: unknown): number | null {
  if (limit === undefined || limit === null || limit === false || limit === '') return null
  const text = typeof limit === 'number' || typeof limit === 'string' ? String(limit) : ''
  if (!/^\d{1,7}$/.test(text) || Number(text) > MAX_HWID_LIMIT) {
    throw badRequest(`limit must be a whole number up to ${MAX_HWID_LIMIT}`)
  }
  return Number(text) === 0 ? null : Number(text)
}

export function userRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/:tgId', (c) => {
      const user = findUser(s.db, readTgId(c))
      if (!user) throw notFound('user not found')
      const now = s.clock.now()
      return c.json({
        tg_id: user.tgId,
        username: user.username,
        created_at: user.createdAt,
        token: user.token,
        subscriptions: listOfUser(s.db, user.tgId).map((found) => subscriptionView(found, now)),
        devices: listDevices(s.db, user.tgId).map(deviceView),
        hwid_limit: user.hwidLimit,
        hwid_fallback_limit: readSettings(s).int('HWID_FALLBACK_LIMIT'),
      })
    })
    .post('/:tgId/grant', async (c) => {
      const tgId = readTgId(c)
      const granted = await grant(s, c.get('actor'), tgId, await readJson(c, order))
      return c.json(subscriptionView(granted, s.clock.now()))
    })
    .get('/:tgId/devices', (c) => {
      const { devices, limit, fallbackLimit } = userDevices(s, readTgId(c))
      return c.json({ devices: devices.map(deviceView), limit, fallback_limit: fallbackLimit })
    })
    .delete('/:tgId/devices/:deviceId', async (c) => {
      await removeDevice(s, c.get('actor'), readTgId(c), readId(c, 'deviceId'))
      return c.json({ ok: true })
    })
    .post('/:tgId/hwid-limit', async (c) => {
      const tgId = readTgId(c)
      const { limit } = await readJson(c, v.object({ limit: v.optional(v.unknown()) }))
      await setHwidLimit(s, c.get('actor'), tgId, parseHwidLimit(limit))
      return c.json({ ok: true })
    })
}
