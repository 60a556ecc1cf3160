/** Live settings that an admin changes: the device limit. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { readSettings, saveSettings } from '#src/domain/settings.ts'
import { badRequest } from '#src/lib/errors.ts'
import type { AppEnv, Http } from '../context.ts'
import { flag, integer, readJson } from '../validate.ts'

const hwidSettings = v.strictObject({
  enabled: v.optional(flag),
  fallback_limit: v.optional(integer(1, 1000)),
})

function hwidView(s: Http) {
  const settings = readSettings(s)
  return {
    enabled: settings.flag('HWID_LIMIT_ENABLED'),
    fallback_limit: settings.int('HWID_FALLBACK_LIMIT'),
  }
}

export function settingsRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/hwid-settings', (c) => c.json(hwidView(s)))
    .post('/hwid-settings', async (c) => {
      const { enabled, fallback_limit: limit } = await readJson(c, hwidSettings)
      if (enabled === undefined && limit === undefined) throw badRequest('nothing to change')
      await saveSettings(s, c.get('actor'), {
        ...(enabled === undefined ? {} : { HWID_LIMIT_ENABLED: String(enabled) }),
        ...(limit === undefined ? {} : { HWID_FALLBACK_LIMIT: String(limit) }),
      })
      return c.json(hwidView(s))
    })
}
