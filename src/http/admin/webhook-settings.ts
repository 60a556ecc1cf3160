/** Where events are sent. */
import * as v from 'valibot'
import { optionalEvents } from '#src/domain/installation/setting-values.ts'
import { sendTestEvent } from '#src/domain/notify/event-delivery.ts'
import { tickedEvents } from '#src/domain/notify/events.ts'
import { rotateWebhookSecret, saveWebhook } from '#src/domain/notify/webhook-settings.ts'
import { readSettings } from '#src/domain/settings.ts'
import { badRequest } from '#src/lib/errors.ts'
import { line } from '#src/lib/values.ts'
import { adminOperations, operation } from '../operation.ts'
import { attempt } from '../schemas/event.ts'
import { webhookSaved, webhookSecret, webhookSettings } from '../schemas/settings.ts'
import { webhookView } from '../settings-views.ts'
import { attemptView } from '../views.ts'

const webhookBody = v.pipe(
  v.object({ url: v.optional(line(2048)), events: v.optional(optionalEvents) }),
  v.metadata({ minProperties: 1 }),
)

export const webhookSettingsOperations = adminOperations('Settings', [
  operation(
    {
      method: 'get',
      path: '/settings/webhook',
      scope: 'settings:read',
      summary: 'Where events are sent',
      ok: webhookSettings,
    },
    ({ s }) => webhookView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/settings/webhook',
      scope: 'settings:write',
      summary:
        'Set where events are sent, and which besides the usual ones; an empty address sends none',
      confirmed: true,
      body: webhookBody,
      ok: webhookSaved,
    },
    async ({ s, actor, body }) => {
      const changes = await body()
      if (changes.url === undefined && changes.events === undefined) {
        throw badRequest('url is missing or of the wrong type')
      }
      const saved = await saveWebhook(s, actor, changes)
      const settings = readSettings(s)
      return {
        ok: true,
        url: changes.url ?? settings.text('WEBHOOK_URL'),
        ...saved,
        ...(changes.events && { events: tickedEvents(settings) }),
      }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/settings/webhook/rotate-secret',
      scope: 'settings:write',
      summary: 'Sign events with another secret from now on',
      confirmed: true,
      ok: webhookSecret,
    },
    async ({ s, actor }) => ({ ok: true, secret: await rotateWebhookSecret(s, actor) }),
  ),
  operation(
    {
      method: 'post',
      path: '/settings/webhook/test',
      scope: 'settings:write',
      summary: 'Send an event without data now',
      ok: attempt,
      refusals: [400],
    },
    async ({ s, actor }) => attemptView(await sendTestEvent(s, actor)),
  ),
])
