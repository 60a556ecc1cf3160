/** The devices of the account, and their removal. */
import type { ShopAnswer } from '#src/http/schemas/payment.ts'
import { call, noteFault, own, readShop } from './account.ts'
import { byId, made, note, within } from './parts.ts'
import { day, fill, texts } from './words.ts'

type Device = ShopAnswer['devices']['list'][number]

function deviceRow(device: Device): HTMLElement {
  const { id, device_model, device_os, last_seen_at } = device
  const name = device_model || device_os || texts.unknownDevice
  const seen = last_seen_at ? fill(texts.seen, { date: day(last_seen_at) }) : ''
  const detail = [device_model ? device_os : '', seen].filter(Boolean).join(', ')
  const row = made('device-row', { name, detail })
  const button = within(row, '[data-remove]')
  button.setAttribute('aria-label', fill(texts.removeLabel, { name }))
  button.addEventListener('click', () => askToRemove(id, name))
  return row
}

export function showDevices(): void {
  const { limit, list } = own.shop.devices
  byId('devices').hidden = limit === null && list.length === 0
  byId('devices-used').hidden = limit === null
  byId('devices-used').textContent = fill(texts.used, { count: list.length, limit })
  byId('device-list').replaceChildren(...list.map(deviceRow))
  byId('no-devices').hidden = list.length > 0
}

function askToRemove(id: number, name: string): void {
  const dialog = byId('remove')
  byId('remove-title').textContent = fill(texts.removeAsk, { name })
  dialog.returnValue = ''
  dialog.showModal()
  dialog.onclose = () => {
    if (dialog.returnValue === 'remove') void removeDevice(id, name)
  }
}

async function removeDevice(id: number, name: string): Promise<void> {
  try {
    await call('DELETE', `/devices/${id}`)
    const at = own.shop.devices.list.findIndex((device) => device.id === id)
    own.shop = await readShop()
    const focused = byId('device-list').contains(document.activeElement)
    showDevices()
    note('device-note', fill(texts.removed, { name }), { good: true })
    // Even when it was the last one, and nobody counts them.
    byId('devices').hidden = false
    const next = byId('device-list').querySelectorAll<HTMLElement>('[data-remove]')[at]
    if (focused) (next ?? byId('devices-title')).focus()
  } catch (error) {
    noteFault('device-note', error, { wait: texts.tooMany, refused: texts.removeFailed })
  }
}
