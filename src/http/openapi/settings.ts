/** Live settings but those of payments. */
import {
  alertSettings as alertsBody,
  appSettings as appsBody,
  botSettings as botBody,
  brandSettings as brandBody,
  hwidSettings as hwidBody,
  receiptSettings as receiptsBody,
  webhookSettings as webhookBody,
} from '#src/http/admin/settings.ts'
import { attempt } from '#src/http/schemas/event.ts'
import {
  alertSettings,
  appSettings,
  botSaved,
  botSettings,
  brandSettings,
  hwidSettings,
  receiptSettings,
  webhookSaved,
  webhookSecret,
  webhookSettings,
} from '#src/http/schemas/settings.ts'
import { adminOperations, changesOf } from './operation.ts'

export const settingsOperations = adminOperations('Settings', [
  {
    method: 'get',
    path: '/hwid-settings',
    summary: 'The device limit',
    ok: hwidSettings,
  },
  {
    method: 'post',
    path: '/hwid-settings',
    summary: 'Change the device limit',
    body: changesOf(hwidBody),
    ok: hwidSettings,
  },
  {
    method: 'get',
    path: '/settings/bot',
    summary: 'The bot, with what may be shown of its token',
    ok: botSettings,
  },
  {
    method: 'post',
    path: '/settings/bot',
    summary: "Set the bot's token; Telegram is asked whose it is",
    body: botBody,
    ok: botSaved,
  },
  { method: 'get', path: '/settings/brand', summary: 'Name and colour', ok: brandSettings },
  {
    method: 'post',
    path: '/settings/brand',
    summary: 'Change name or colour',
    body: changesOf(brandBody),
    ok: brandSettings,
  },
  {
    method: 'get',
    path: '/settings/apps',
    summary: 'The client apps that pages and bot offer',
    ok: appSettings,
  },
  {
    method: 'post',
    path: '/settings/apps',
    summary: 'Replace the client apps; null brings back those of the service',
    body: changesOf(appsBody),
    ok: appSettings,
  },
  {
    method: 'get',
    path: '/settings/webhook',
    summary: 'Where events are sent',
    ok: webhookSettings,
  },
  {
    method: 'post',
    path: '/settings/webhook',
    summary: 'Set where events are sent; an empty address sends none',
    body: webhookBody,
    ok: webhookSaved,
  },
  {
    method: 'post',
    path: '/settings/webhook/rotate-secret',
    summary: 'Sign events with another secret from now on',
    ok: webhookSecret,
  },
  {
    method: 'post',
    path: '/settings/webhook/test',
    summary: 'Send an event without data now',
    ok: attempt,
    refusals: [400],
  },
  { method: 'get', path: '/settings/alerts', summary: 'Who is alerted', ok: alertSettings },
  {
    method: 'post',
    path: '/settings/alerts',
    summary: 'Change who is alerted',
    body: changesOf(alertsBody),
    ok: alertSettings,
  },
  {
    method: 'get',
    path: '/settings/receipts',
    summary: 'What receipts of payments say',
    ok: receiptSettings,
  },
  {
    method: 'post',
    path: '/settings/receipts',
    summary: 'Change what receipts of payments say',
    body: changesOf(receiptsBody),
    ok: receiptSettings,
  },
])
