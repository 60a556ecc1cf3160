/** The job's housekeeping: sessions, pending logins, codes and attempts that ran out, history past its time, and sums. */

import { deleteExpiredLinkCodes } from '#db/link-codes.ts'
import { deleteExpiredLogins } from '#db/logins.ts'
import { deleteOld } from '#db/retention.ts'
import { foldSums } from '#db/sums.ts'
import { DEVICE_TTL_SECONDS } from '#src/domain/accounts/admin-devices.ts'
import { forgetGuests } from '#src/domain/payments/guests.ts'
import { pause } from '#src/lib/pause.ts'
import { DAY_MS, formatTimestamp, SECOND_MS, timestampBefore } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock'>

const RETENTION_DAYS = { events: 90, outbox: 30, audit: 365, samples: 400 }
/** Between two batches, so that other writers get their turn. */
const PAUSE_MS = 5

/** Deletes what has run out. */
export async function cleanUp(s: Deps): Promise<void> {
  const now = s.clock.now()
  const before = (days: number) => timestampBefore(now, days * DAY_MS)
  await deleteExpiredLogins(s.db, formatTimestamp(now), {
    attempts: before(1),
    devices: timestampBefore(now, DEVICE_TTL_SECONDS * SECOND_MS),
  })
  await deleteExpiredLinkCodes(s.db, formatTimestamp(now))
  await forgetGuests(s)
  await foldSums(s.db)
  const limits = {
    events: before(RETENTION_DAYS.events),
    outbox: before(RETENTION_DAYS.outbox),
    audit: before(RETENTION_DAYS.audit),
    samples: before(RETENTION_DAYS.samples).slice(0, 10),
  }
  while (await deleteOld(s.db, limits)) await pause(PAUSE_MS)
}
