/** Live settings that customers notice: device limit, bot, brand, client apps. */
import * as v from 'valibot'
import { saveBotToken } from '#src/domain/installation/bot-settings.ts'
import {
  botToken,
  brandHue,
  brandName,
  fallbackLimit,
} from '#src/domain/installation/setting-values.ts'
import { appCatalogue } from '#src/domain/lists/apps.ts'
import { readSettings, saveSettings } from '#src/domain/settings.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { flag } from '#src/lib/values.ts'
import { adminOperations, operation } from '../operation.ts'
import {
  appSettings,
  botSaved,
  botSettings,
  brandSettings,
  hwidSettings,
} from '../schemas/settings.ts'
import { appsView, botView, brandView, hwidView } from '../settings-views.ts'

const hwidBody = v.strictObject({
  enabled: v.optional(flag),
  fallback_limit: v.optional(fallbackLimit),
})

const brandBody = v.object({
  brand_name: v.optional(brandName),
  brand_hue: v.optional(brandHue),
})

/** `null` brings back the catalogue that comes with the service. */
const appsBody = v.object({ apps: v.optional(v.nullable(appCatalogue)) })

export const customerSettingsOperations = adminOperations('Settings', [
  operation(
    {
      method: 'get',
      path: '/hwid-settings',
      scope: 'settings:read',
      summary: 'The device limit',
      ok: hwidSettings,
    },
    ({ s }) => hwidView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/hwid-settings',
      scope: 'settings:write',
      summary: 'Change the device limit',
      body: hwidBody,
      changes: true,
      ok: hwidSettings,
    },
    async ({ s, actor, body }) => {
      const { enabled, fallback_limit } = await body()
      const changes = {
        HWID_LIMIT_ENABLED: enabled?.toString(),
        HWID_FALLBACK_LIMIT: fallback_limit?.toString(),
      }
      await saveSettings(s, actor, omitUndefined(changes))
      return hwidView(readSettings(s))
    },
  ),
  operation(
    {
      method: 'get',
      path: '/settings/bot',
      scope: 'settings:read',
      summary: 'The bot, with what may be shown of its token',
      ok: botSettings,
    },
    ({ s }) => botView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/settings/bot',
      scope: 'settings:write',
      summary: "Set the bot's token; Telegram is asked whose it is",
      confirmed: true,
      body: v.object({ token: botToken }),
      ok: botSaved,
    },
    async ({ s, actor, body }) => {
      const { token } = await body()
      return { ok: true, ...(await saveBotToken(s, actor, token)) }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/settings/brand',
      scope: 'settings:read',
      summary: 'Name and colour',
      ok: brandSettings,
    },
    ({ s }) => brandView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/settings/brand',
      scope: 'settings:write',
      summary: 'Change name or colour',
      confirmed: true,
      body: brandBody,
      changes: true,
      ok: brandSettings,
    },
    async ({ s, actor, body }) => {
      const { brand_name, brand_hue } = await body()
      const changes = { BRAND_NAME: brand_name, BRAND_HUE: brand_hue?.toString() }
      await saveSettings(s, actor, omitUndefined(changes))
      return brandView(readSettings(s))
    },
  ),
  operation(
    {
      method: 'get',
      path: '/settings/apps',
      scope: 'settings:read',
      summary: 'The client apps that pages and bot offer',
      ok: appSettings,
    },
    ({ s }) => appsView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/settings/apps',
      scope: 'settings:write',
      summary: 'Replace the client apps; null brings back those of the service',
      confirmed: true,
      body: appsBody,
      changes: true,
      ok: appSettings,
    },
    async ({ s, actor, body }) => {
      const { apps } = await body()
      await saveSettings(s, actor, { APP_CATALOGUE: apps ? JSON.stringify(apps) : null })
      return appsView(readSettings(s))
    },
  ),
])
