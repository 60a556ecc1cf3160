/** Live settings that customers notice: device limit, bot, brand, client apps. */
import * as v from 'valibot'
import { saveBotToken } from '#src/domain/installation/bot-settings.ts'
import { readSettings, saveSettings } from '#src/domain/settings.ts'
import { appCatalogue } from '#src/settings/app-catalogue.ts'
import { botToken } from '#src/settings/live.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import { adminOperations, operation } from '../operation.ts'
import { appSettings, botSaved } from '../schemas/settings.ts'
import { formOf, saveForm } from '../settings-form.ts'
import { appsView } from '../settings-views.ts'

/** `null` brings back the catalogue that comes with the service. */
const appsBody = v.object({ apps: v.optional(v.nullable(appCatalogue)) })

export function customerSettingsOperations(own: readonly LiveSetting[]) {
  const hwid = formOf(own, 'hwid')
  const bot = formOf(own, 'bot')
  const brand = formOf(own, 'brand')
  const sales = formOf(own, 'sales')
  return adminOperations('Settings', [
    operation(
      {
        method: 'get',
        path: '/hwid-settings',
        scope: 'settings:read',
        summary: 'The device limit',
        ok: hwid.shown,
      },
      ({ s }) => hwid.view(readSettings(s)),
    ),
    operation(
      {
        method: 'post',
        path: '/hwid-settings',
        scope: 'settings:write',
        summary: 'Change the device limit',
        body: v.strictObject(hwid.given),
        changes: true,
        ok: hwid.shown,
      },
      async ({ s, actor, body }) => saveForm(s, actor, hwid, await body()),
    ),
    operation(
      {
        method: 'get',
        path: '/settings/bot',
        scope: 'settings:read',
        summary: 'The bot, with what may be shown of its token',
        ok: bot.shown,
      },
      ({ s }) => bot.view(readSettings(s)),
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
        ok: brand.shown,
      },
      ({ s }) => brand.view(readSettings(s)),
    ),
    operation(
      {
        method: 'post',
        path: '/settings/brand',
        scope: 'settings:write',
        summary: 'Change name or colour',
        confirmed: true,
        body: v.object(brand.given),
        changes: true,
        ok: brand.shown,
      },
      async ({ s, actor, body }) => saveForm(s, actor, brand, await body()),
    ),
    operation(
      {
        method: 'get',
        path: '/settings/sales',
        scope: 'settings:read',
        summary: 'Whether guests are sold to',
        ok: sales.shown,
      },
      ({ s }) => sales.view(readSettings(s)),
    ),
    operation(
      {
        method: 'post',
        path: '/settings/sales',
        scope: 'settings:write',
        summary: 'Sell to guests, or no more',
        body: v.object(sales.given),
        changes: true,
        ok: sales.shown,
      },
      async ({ s, actor, body }) => saveForm(s, actor, sales, await body()),
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
}
