/** Where events are sent. */

import * as v from 'valibot'
import { sendTestEvent } from '#src/domain/notify/event-delivery.ts'
import { tickedEvents } from '#src/domain/notify/events.ts'
import { rotateWebhookSecret, saveWebhook } from '#src/domain/notify/webhook-settings.ts'
import { readSettings } from '#src/domain/settings.ts'
import { fieldRefusal } from '#src/refusals/index.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import { adminOperations, operation } from '../operation.ts'
import { attempt } from '../schemas/event.ts'
import { webhookSecret } from '../schemas/settings.ts'
import { formOf } from '../settings-form.ts'
import { attemptView } from '../views.ts'

export function webhookSettingsOperations(own: readonly LiveSetting[]) {
  const webhook = formOf(own, 'webhook')
  const { url, events } = webhook.shown.entries
  /** With the secret only where it was made just now. */
  const saved = v.strictObject({
    ok: v.literal(true),
    url,
    secret: v.exactOptional(v.string()),
    events,
  })
  return adminOperations('Settings', [
    operation(
      {
        method: 'get',
        path: '/settings/webhook',
        scope: 'settings:read',
        summary: 'Where events are sent',
        ok: webhook.shown,
      },
      ({ s }) => {
        const { events, ...rest } = webhook.view(readSettings(s))
        return { ...(events && { events }), ...rest }
      },
    ),
    operation(
      {
        method: 'post',
        path: '/settings/webhook',
        scope: 'settings:write',
        summary:
          'Set where events are sent, and which besides the usual ones; an empty address sends none',
        confirmed: true,
        body: v.pipe(v.object(webhook.given), v.metadata({ minProperties: 1 })),
        ok: saved,
      },
      async ({ s, actor, body }) => {
        const changes = await body()
        if (changes.url === undefined && changes.events === undefined) {
          throw fieldRefusal('url', 'missing')
        }
        const made = await saveWebhook(s, actor, changes)
        const settings = readSettings(s)
        return {
          ok: true,
          url: changes.url ?? settings.text('WEBHOOK_URL'),
          ...made,
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
}
