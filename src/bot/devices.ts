/** Own devices: who has taken the list, and making room for another. */
import { listDevices } from '#db/devices.ts'
import type { Device } from '#db/schema/index.ts'
import { listActiveOfUser } from '#db/subscriptions.ts'
import { BOT_ACTOR } from '#src/domain/audit.ts'
import { deviceLimit, limitOfPlans, removeOwnDevice } from '#src/domain/customers/devices.ts'
import { cut } from '#src/lib/format.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { tapData } from './callback-data.ts'
import { column, MOST_LISTED } from './keyboards.ts'
import { type BotRequest, hoursToWait, say, show, type Work } from './request.ts'

const NAME_LENGTH = 50

/** What a device calls itself, as far as it does. */
const nameOf = (v: BotRequest, { deviceModel, deviceOs, userAgent }: Device) =>
  cut([deviceModel, deviceOs].filter(Boolean).join(', ') || userAgent || v.t.device, NAME_LENGTH)

async function showDevices(v: BotRequest): Promise<void> {
  const { s, t, user } = v
  const { devices, active } = await s.db.read(function* (q) {
    const now = formatTimestamp(s.clock.now())
    return {
      devices: yield* listDevices(q, user.tgId),
      active: yield* listActiveOfUser(q, user.tgId, now),
    }
  })
  const rows = devices
    .slice(0, MOST_LISTED)
    .map((device): [string, string] => [`🗑 ${nameOf(v, device)}`, tapData('dev', device.id)])
  const { settings, plans } = v.memory.catalogue()
  const limit = deviceLimit(user, settings, limitOfPlans(plans, active))
  await show(v, t.deviceList(devices.length, limit), column([...rows, [t.back, tapData('s')]]))
}

/** Removes one; false when the user has removed too many of late, of which they are told. */
async function remove(v: BotRequest, id: string): Promise<void> {
  try {
    await removeOwnDevice(v.s, BOT_ACTOR, v.user.tgId, /^\d{1,15}$/.test(id) ? Number(id) : null)
    await say(v, v.t.deviceRemoved)
  } catch (error) {
    await say(v, v.t.deviceLimitReached(hoursToWait(error)))
  }
}

/** The list of devices; with an id that one is removed first. */
export const devices: Work = async (v, [id]) => {
  if (id !== undefined) await remove(v, id)
  await showDevices(v)
}
