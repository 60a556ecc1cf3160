/** Who is alerted. */

import type { Actor } from '#src/domain/audit.ts'
import { readSettingsIn, writeSettings } from '#src/domain/settings.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { alertFormer, audienceOf } from './alerts.ts'

/** Saves the Telegram ids of those who are alerted; where they are others than before, tells all of them, the former ones too. */
export async function saveAlertRecipients(
  s: Pick<Services, 'db' | 'clock' | 'config'>,
  actor: Actor,
  tgIds: number[],
): Promise<void> {
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const former = audienceOf(yield* readSettingsIn(tx, s))
    yield* writeSettings(tx, actor, at, { ADMIN_TG_IDS: tgIds.join(' ') })
    if (new Set(tgIds).symmetricDifference(new Set(former.tgIds)).size > 0) {
      yield* alertFormer(tx, s, at, former, { about: 'recipients-changed', ...actor })
    }
  })
}
