/** gRPC in place of XHTTP behind a node's REALITY port, used by real clients with our own lists. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  bytesOf,
  type DrivenNode,
  driveNode,
  managedRow,
} from '#test/support/drivers/node-driver.ts'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import { SPOKEN_GRPC } from '#test/support/labs/list-clients.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'
import { type Client, fetchThrough, openStream } from '#test/support/labs/service.ts'

let lab: Lab
let target: Target
let server: NodeServer
let node: DrivenNode

beforeAll(async () => {
  lab = createLab()
  target = await startTarget(lab)
  server = addServer(lab, 1, { hysteria: true, sni: target.serverName })
  await server.boot()
  const { transportsJson } = await managedRow(server, target)
  node = await driveNode(lab, server, target, {
    transportsJson: transportsJson.map((one) =>
      one.type === 'xhttp' ? { type: 'grpc', port: 443, service_name: 'fedcba9876543210' } : one,
    ),
  })
  await node.configure()
})
afterAll(() => lab?.close())

const read = (client: Client) => fetchThrough(lab, target, client)
const works = (client: Client) =>
  until(
    `${client.name} gets the page\n${client.process.output()}`,
    async () => (await read(client)) === 'hello',
    20_000,
  )

test('each core connects by gRPC, is counted, and is cut off when its customer goes', async () => {
  const uuid = randomUUID()
  await node.add(uuid)
  expect(await server.held('grpc')).toEqual([uuid])
  const clients = [...SPOKEN_GRPC, ['xray', 'reality'] as const].map((spoken) =>
    node.client(uuid, [...spoken]),
  )
  await Promise.all(clients.map(works))
  const { counters, live } = await node.program.status('', 20_000)
  expect(live).toBe(true)
  expect(bytesOf(counters, uuid).down).toBeGreaterThan(300)

  const opened = clients.map((client) => openStream(lab, target, client))
  await until('the streams run', () => opened.every((stream) => stream.output().length > 200))
  await node.remove(uuid)
  await Promise.all(opened.map((stream) => stream.exited))
  expect(await Promise.all(clients.map(read))).toEqual(clients.map(() => null))
})
