/** Servers in the panel: added by the wizard, followed while they are set up, known by their host key, emptied, cleaned. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fingerprintOf } from '#src/lib/host-key.ts'
import {
  act,
  answer,
  button,
  close,
  dialog,
  field,
  heading,
  inspect,
  missingPairs,
  openPanel,
  type Page,
  type PanelBrowser,
  soon,
  toast,
  visit,
} from '#test/support/browser/panel-browser.ts'
import {
  createPanelServers,
  type PanelServers,
  tokenOf,
} from '#test/support/browser/panel-servers.ts'
import { HOST_KEY } from '#test/support/calls/provisioning.ts'
import { freePort } from '#test/support/drivers/process.ts'

/** For what the panel does by itself after a registration. */
const PATIENT = { timeout: 30_000 }

let panel: PanelBrowser
let servers: PanelServers

beforeAll(async () => {
  panel = await openPanel({ seed: { users: 60 }, env: { SYNC_INTERVAL_MS: '3600000' } })
  servers = createPanelServers(panel)
})
afterAll(async () => {
  await panel.close()
  await servers.close()
})

/** Listens on a port of loopback until it is called. */
async function listenOn(port: number): Promise<() => void> {
  const listener = createServer((socket) => socket.end())
  await new Promise<void>((done) => listener.listen(port, '127.0.0.1', done))
  return () => void listener.close()
}

const command = (page: Page) => page.locator('pre.command')
const stage = (page: Page, name: string) => page.locator('.stage').filter({ hasText: name })

test('a server is added by keyboard, its setup followed live to the end, through refusals and a failure', async () => {
  const page = await panel.open({ hash: '#/nodes' })
  await page.getByRole('link', { name: 'Add a node', exact: true }).press('Enter')
  await heading(page, 'Add a server')
  const name = page.getByLabel('Name', { exact: true })
  const address = page.getByLabel('Address', { exact: true })
  await name.press('Enter')
  await page.getByText('is needed').first().waitFor()
  expect(await name.evaluate((input) => input === document.activeElement)).toBe(true)
  await name.fill('Prague')
  await address.fill('no host')
  await address.press('Enter')
  const port = await freePort()
  await page.getByLabel('Port', { exact: true }).fill(String(port))
  await page.getByRole('switch', { name: 'gRPC' }).press('Space')
  await page.getByRole('switch', { name: 'XHTTP' }).press('Space')
  // One of them is behind a port.
  await page.getByRole('switch', { name: 'gRPC', checked: false }).waitFor()
  await page.getByRole('switch', { name: 'Hysteria2' }).press('Space')
  await page.getByLabel('Port of Hysteria2 (UDP)').waitFor()
  expect(await inspect(page, 'wizard-transports')).toEqual([])
  // Not drawn, so it is not sent.
  await page.getByLabel('Port of Hysteria2 (UDP)').fill('')
  await page.getByRole('switch', { name: 'Hysteria2' }).press('Space')
  await button(page, 'Create and get the command').press('Enter')
  // The refusal is of the first step, and stands there; nothing that was chosen is lost.
  await page.getByText('must be a host name or an IP address').waitFor()
  expect(await name.inputValue()).toBe('Prague')
  expect(await inspect(page, 'wizard-server')).toEqual([])
  // Where its field is not drawn, it stands above the buttons.
  await address.press('Enter')
  await page.getByText('address must be a host name or an IP address').waitFor()
  await button(page, 'Back').press('Enter')
  await address.fill('127.0.0.1')
  await address.press('Enter')
  await button(page, 'Create and get the command').press('Enter')

  await heading(page, 'Setup of Prague')
  expect(page.url()).toMatch(/#\/nodes\/setup\/prague$/)
  const given = (await command(page).textContent()) as string
  await button(page, 'Copy').press('Enter')
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(given)
  expect(await servers.nodeOf('prague')).toMatchObject({
    status: 'pending',
    provisioning: 'first',
    transports_json: [{ type: 'xhttp' }],
  })
  await page.getByText(/^Waiting for the server/).waitFor()
  expect(await inspect(page, 'setup-waiting')).toEqual([])

  await page.reload()
  await page.getByText(/^A command is shown only once/).waitFor()
  await page.getByText(/^Waiting for the server/).waitFor()
  expect(await command(page).count()).toBe(0)

  const token = tokenOf(given)
  const reason = 'port 443 is in use by nginx: stop it, or choose another port in the panel'
  expect(await servers.register(token, { status: 'failed', step: 'ports', reason })).toBe(200)
  await page.getByText('The install script failed: free ports').waitFor()
  await page.getByText(reason).waitFor()
  await page.getByText(/^Stop the program that has the port/).waitFor()
  expect(await inspect(page, 'setup-failed')).toEqual([])
  const coreless = 'the panel has no xray for amd64: run `npm run cores` there, then this again'
  await servers.register(token, { status: 'failed', step: 'checks', reason: coreless })
  await page.getByText('The install script failed: checks of the machine').waitFor()
  await page.getByText(/run “npm run cores” at the panel/).waitFor()

  const server = await servers.startServer()
  const faulty = { status: 429, json: { error: 'no answer for once' } }
  await page.route('**/nodes/prague/check', (route) => route.fulfill(faulty), { times: 1 })
  await server.install(token)
  await page.getByText('The node is set up and on sale.').waitFor(PATIENT)
  await stage(page, 'Its port answers').getByText('no answer for once').waitFor()
  await button(page, 'Check again').click()
  await stage(page, 'Its port answers').getByText(`127.0.0.1:${port} does not answer`).waitFor()
  const stop = await listenOn(port)
  await button(page, 'Check again').click()
  await stage(page, 'Its port answers').getByText(`127.0.0.1:${port} answers.`).waitFor()
  stop()
  expect(await inspect(page, 'setup-active')).toEqual([])
  expect(await servers.nodeOf('prague')).toMatchObject({
    status: 'active',
    enabled: true,
    last_error: null,
  })
  await page.getByRole('link', { name: 'Open Prague' }).click()
  await dialog(page).getByText('26.7.28').waitFor()

  // Once more, as after an update of the panel: the node goes on meanwhile.
  await visit(page, '/nodes/setup/prague')
  await button(page, 'Get a new command').click()
  const again = tokenOf(await command(page).textContent())
  await page.getByText(/goes on as it is until the command is run/).waitFor()
  expect(await servers.nodeOf('prague')).toMatchObject({ status: 'active', provisioning: 'again' })
  await server.install(again)
  await page.getByText('The node is set up and on sale.').waitFor(PATIENT)
  await close(page)
  expect(panel.faults).toEqual([])
})

test('a command that ran out, or was lost, is given out again and the one before stops', async () => {
  const first = await servers.guide({ label: 'Brno', address: 'brno.example.com' })
  const past = '2026-01-01T00:00:00'
  panel.area.write("update nodes set provision_expires_at = ? where code = 'brno'", past)
  const page = await panel.open({
    runtime: 'bun',
    width: 390,
    theme: 'dark',
    lang: 'ru',
    hash: '#/users',
  })
  // Access is given only on what is set up.
  await page.getByRole('button', { name: 'Выдать доступ' }).first().click()
  const offered = () => dialog(page).getByLabel('Сервер').locator('option').allTextContents()
  await soon(offered).toContain('Amsterdam')
  expect(await offered()).not.toContain('Brno')
  await page.keyboard.press('Escape')
  await visit(page, '/nodes')
  await page.getByRole('button', { name: /^Brno/ }).click()
  await dialog(page).getByRole('link', { name: 'Продолжить настройку' }).click()
  await page.getByText(/^Срок команды вышел/).waitFor()
  expect(await inspect(page, 'setup-expired-phone-ru-dark')).toEqual([])
  await button(page, 'Получить новую команду').click()
  const second = tokenOf(await command(page).textContent())
  expect(await inspect(page, 'setup-again-phone-ru-dark')).toEqual([])
  expect([await servers.register(first), await servers.register(second)]).toEqual([404, 200])
  await button(page, 'Получить новую команду').click()
  await dialog(page)
    .getByText(/^Прежняя перестанет работать/)
    .waitFor()
  await answer(page, 'Получить новую команду')
  await soon(async () => tokenOf(await command(page).textContent())).not.toBe(second)
  const third = tokenOf(await command(page).textContent())
  expect([await servers.register(second), await servers.register(third)]).toEqual([404, 200])
  // Given out once more elsewhere, after the page has learned how long this one holds.
  for (let times = 0; times < 2; times++) await page.waitForResponse(/\/api\/nodes$/)
  const other = '2099-01-01T00:00:00'
  panel.area.write("update nodes set provision_expires_at = ? where code = 'brno'", other)
  await soon(() => command(page).count()).toBe(0)
  await visit(page, '/nodes/setup/nobody')
  await page.getByText('Такого сервера нет').waitFor()
  await visit(page, '/nodes/setup/nl1')
  await page.getByText('Этот сервер не настраивается командой').waitFor()
  await close(page)
  expect(panel.faults).toEqual([])
})

test('another host key is an alarm everywhere, and is trusted with the fingerprint from the server’s console only', async () => {
  const { sshd } = await servers.addManaged('Riga', 'riga')
  const [old = ''] = sshd.hostKeys().map(fingerprintOf)
  await sshd.kill()
  sshd.renewHostKeys('ed25519')
  await sshd.start()
  await panel.admin('/sync', {})
  const [shown = ''] = sshd.hostKeys().map(fingerprintOf)
  await soon(() => servers.nodeOf('riga')).toMatchObject({
    host_key: old,
    presented_host_key: shown,
  })

  const page = await panel.open({ width: 390, theme: 'dark' })
  await page.getByRole('link', { name: /Riga shows another host key/ }).click()
  await dialog(page).getByText(old, { exact: true }).waitFor()
  await dialog(page).getByText(shown, { exact: true }).waitFor()
  expect(await inspect(page, 'host-key-phone-dark')).toEqual([])
  const brought = field(page, 'What the console printed')
  const trust = dialog(page).getByRole('button', { name: 'Trust the new key' })
  expect(await trust.isDisabled()).toBe(true)
  await brought.fill(`The fingerprint for the ED25519 key sent by the remote host is\n${shown}.`)
  await dialog(page)
    .getByText(/^Paste only what the command printed/)
    .waitFor()
  await brought.fill(`256 ${old} root@riga (ED25519)`)
  await dialog(page)
    .getByText(/^That is not the key shown now/)
    .waitFor()
  const refusal = page.waitForResponse(/trust-host-key$/)
  await trust.click()
  expect((await refusal).status()).toBe(400)
  expect(await servers.nodeOf('riga')).toMatchObject({ host_key: old, presented_host_key: shown })
  await page.keyboard.press('Escape')
  await answer(page, 'Discard')

  await page.getByText('Other host key', { exact: true }).waitFor()
  await page.getByRole('button', { name: /^Riga/ }).click()
  await dialog(page)
    .getByText(/^Riga shows another SSH host key/)
    .waitFor()
  expect(await inspect(page, 'host-key-card-phone-dark')).toEqual([])
  await answer(page, 'Compare host keys')
  // As the console prints it.
  const keyFile = join(sshd.dir, 'presented.pub')
  writeFileSync(keyFile, `${sshd.hostKeys()[0]} root@riga\n`)
  const printed = execFileSync('ssh-keygen', ['-lf', keyFile], { encoding: 'utf8' })
  await brought.fill(printed.trim())
  await answer(page, 'Trust the new key')
  await toast(page, 'Riga: the new host key is trusted')
  await soon(() => servers.nodeOf('riga')).toMatchObject({
    host_key: shown,
    presented_host_key: null,
  })
  await soon(() =>
    dialog(page)
      .getByText(/shows another SSH host key/)
      .count(),
  ).toBe(0)
  await close(page)
  expect(panel.faults).toEqual([])
})

test('everyone is moved to another node, by a dialog that says how many and what they notice', async () => {
  const unrevoked = (node: string) =>
    panel.area.query<{ uuid: string }>(
      'select uuid from subscriptions where node = ? and active = 1 order by uuid',
      node,
    )
  const leaving = unrevoked('nl1')
  const there = unrevoked('fi1').length
  const page = await panel.open({ runtime: 'bun', width: 390, hash: '#/nodes' })
  await act(page, 'Amsterdam', 'Move everyone to another node')
  await field(page, 'To').selectOption({ label: 'Helsinki' })
  await dialog(page).getByText(`Subscriptions that go along: ${leaving.length}`).waitFor()
  await dialog(page)
    .getByText(/connections to it stay until you remove the clients there\. Apps find Helsinki/)
    .waitFor()
  expect(await inspect(page, 'move-phone')).toEqual([])
  await answer(page, `Move ${leaving.length} to Helsinki`)
  await toast(page, `${leaving.length} subscriptions are on Helsinki now`)
  expect(unrevoked('nl1')).toEqual([])
  expect(unrevoked('fi1').length).toBe(there + leaving.length)
  await act(page, 'Amsterdam', 'Move everyone to another node')
  await dialog(page).getByText('Nobody is on Amsterdam.').waitFor()
  await close(page)
  expect(panel.faults).toEqual([])
})

test('the server of a deleted node is shown, with the reason, as long as it is to be cleaned', async () => {
  const ssh_port = await freePort()
  const token = await servers.guide({ label: 'Vilnius', port: await freePort() })
  expect(await servers.register(token, { status: 'active', ssh_port, host_keys: [HOST_KEY] })).toBe(
    200,
  )
  const page = await panel.open({ theme: 'dark', lang: 'ru', hash: '#/nodes' })
  const section = page.getByRole('region', { name: 'Удалённые серверы, которые ещё не очищены' })
  await page.getByRole('button', { name: /^Vilnius/ }).waitFor()
  expect(await section.count()).toBe(0)
  await button(page, 'Действия: Vilnius').click()
  await page.getByRole('menuitem', { name: 'Удалить', exact: true }).click()
  await dialog(page)
    .getByText(/сама машина будет очищена/)
    .waitFor()
  await answer(page, 'Удалить')
  await toast(page, 'Vilnius удалён')
  await section.getByText(`127.0.0.1:${ssh_port}`, { exact: true }).waitFor()
  const retired = async () => (await panel.admin('/nodes/retired')) as { last_error: string }[]
  await soon(async () => (await retired())[0]?.last_error).toEqual(expect.any(String))
  await page.reload()
  await section.getByText(`нет связи по SSH с 127.0.0.1:${ssh_port}`).waitFor()
  expect(await inspect(page, 'nodes-retired-ru-dark')).toEqual([])
  panel.area.write('delete from retired_nodes')
  await page.reload()
  await page.getByRole('button', { name: /^Amsterdam/ }).waitFor()
  await soon(() => section.count()).toBe(0)
  await close(page)
  expect(panel.faults).toEqual([])
})

test('a server whose sshd does not let the panel in is told apart from one that has not reported', async () => {
  const token = await servers.guide({ label: 'Tallinn', port: await freePort() })
  const page = await panel.open({ runtime: 'bun', lang: 'ru', hash: '#/nodes/add' })
  await page.getByLabel('Название').fill('Тест')
  expect(await inspect(page, 'wizard-ru')).toEqual([])
  await button(page, 'Добавить внешний сервер').click()
  await field(page, 'Открытый ключ').waitFor()
  await page.keyboard.press('Escape')
  await visit(page, '/nodes/setup/tallinn')
  await answer(page, 'Не сохранять')
  await page.getByText(/^Ждём сервер/).waitFor()
  const ssh_port = await freePort()
  expect(await servers.register(token, { status: 'active', ssh_port })).toBe(200)
  await page.getByText('Сервер отозвался, но панель не может с ним работать:').waitFor(PATIENT)
  await page.getByText(`на порт ${ssh_port}/tcp (SSH)`).waitFor()
  expect(await inspect(page, 'setup-unreachable-ru')).toEqual([])
  expect(await servers.nodeOf('tallinn')).toMatchObject({ status: 'active', last_seen_at: null })
  await close(page)
  expect(panel.faults).toEqual([])
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
