/** The alert of a disk that runs full: a full one refuses every sale and every change. */

import { isAlertOpen } from '#db/open-alerts.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { alertState } from './alerts.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'freeDiskShare'>

const NAME = 'disk'
const LOW = 0.1
/** More than what one snapshot takes and gives back, or the alert would come every hour. */
const ENOUGH = 0.15

/** Looks at the disk, and alerts once when less than a tenth is free. */
export async function watchDisk(s: Deps): Promise<void> {
  const free = s.freeDiskShare()
  const isOpen = await s.db.read((q) => isAlertOpen(q, NAME))
  if (isOpen ? free < ENOUGH : free >= LOW) return
  const at = formatTimestamp(s.clock.now())
  const freePercent = Math.floor(free * 100)
  await s.db.tx((tx) =>
    alertState(tx, s, at, {
      name: NAME,
      begins: !isOpen,
      alert: isOpen ? null : { about: 'disk-low', freePercent },
    }),
  )
}
