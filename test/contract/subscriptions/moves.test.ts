/** Subscribers who are taken from one node to another, alone or all of them. */
import { expect } from 'vitest'
import { given } from '#test/support/rows/moved-subscriptions.ts'
import { addPayment, auditOf, DAY, eventsOf, inSeconds } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const LIST = '/admin/api/subscriptions'
const NODES = '/admin/api/nodes'

const edit = (body: unknown) => (uuid: string) => ({
  path: `${LIST}/${uuid}`,
  method: 'PATCH',
  body,
})

const nodeOf = (w: World, uuid: string) =>
  w.rows('select node from subscriptions where uuid = ?', uuid)[0].node

const clientsOf = (w: World, code: string) => [...w.remote(code).clients]

const renewal = (w: World, uuid: string, more = {}) =>
  addPayment(w, { tg_id: 7, node: 'a', renews_uuid: uuid, ...more })

const nodesOfPayments = (w: World) =>
  w.rows('select node from payments order by seq').map((row) => row.node)

scenarios('PATCH /admin/api/subscriptions/{uuid} {node}', [
  {
    name: '200 with the one view of its new node; the same client and time, both nodes right before the answer',
    given,
    request: edit({ node: 'b' }),
    status: 200,
    effects: (w, uuid, { json }) => {
      expect(json).toMatchObject({ uuid, node: 'b', node_label: 'Label of b' })
      expect(json.expires_at).toBe(inSeconds(w, 30 * DAY))
      expect([clientsOf(w, 'a'), clientsOf(w, 'b')]).toEqual([[], [[uuid, 'b']]])
      expect(w.rows('select action, object, detail from audit_log')).toEqual([
        { action: 'subscription.edit', object: uuid, detail: 'tg_id=7 node=b' },
      ])
      expect(eventsOf(w)).toEqual([])
    },
  },
  {
    name: '200 together with another time, as one change',
    given,
    request: edit({ node: 'b', expires_at: '2027-01-01T00:00:00' }),
    status: 200,
    effects: (w, uuid, { json }) => {
      expect(json).toMatchObject({ node: 'b', expires_at: '2027-01-01T00:00:00' })
      expect(w.rows('select detail from audit_log')).toEqual([
        { detail: 'tg_id=7 expires_at=2027-01-01T00:00:00 node=b' },
      ])
      expect(clientsOf(w, 'b')).toEqual([[uuid, 'b']])
    },
  },
  {
    name: '200 to and from a node that others manage: only the row moves, its own node is put right',
    given,
    request: edit({ node: 'x' }),
    status: 200,
    effects: async (w, uuid) => {
      expect([nodeOf(w, uuid), clientsOf(w, 'a')]).toEqual(['x', []])
      await w.admin(`${LIST}/${uuid}`, { method: 'PATCH', body: { node: 'de1' } })
      expect([...w.node.clients]).toEqual([[uuid, 'de1']])
    },
  },
  {
    name: '200 from a node that is gone',
    given: (w) => given(w, { node: 'gone' }),
    request: edit({ node: 'b' }),
    status: 200,
    effects: (w, uuid) => expect(clientsOf(w, 'b')).toEqual([[uuid, 'b']]),
  },
  ...(['held_at', 'expires_at'] as const).map((column) => ({
    name: `200 with a past ${column}: it moves, and no client is made`,
    given: (w: World) => given(w, { [column]: inSeconds(w, -5) }),
    request: edit({ node: 'b' }),
    status: 200,
    effects: (w: World, uuid: string) => {
      expect([nodeOf(w, uuid), clientsOf(w, 'b')]).toEqual(['b', []])
    },
  })),
  {
    name: '200 and what is paid for its renewal later lengthens it there; the old node can be deleted',
    given: async (w) => {
      const uuid = await given(w)
      renewal(w, uuid)
      renewal(w, uuid, { status: 'paid' })
      addPayment(w, { tg_id: 7, node: 'b' })
      return uuid
    },
    request: edit({ node: 'b' }),
    status: 200,
    effects: async (w) => {
      expect(nodesOfPayments(w)).toEqual(['b', 'a', 'b'])
      expect((await w.admin(`${NODES}/a`, { method: 'DELETE' })).status).toBe(200)
    },
  },
  {
    name: '200 without a change for the node that it is on, also a revoked one',
    given: (w) => given(w, { active: 0 }),
    request: edit({ node: 'a' }),
    status: 200,
    effects: (w) => expect(auditOf(w)).toEqual([]),
  },
  {
    name: '200 when both nodes are down: they are put right by the sync',
    given: async (w) => {
      const uuid = await given(w)
      for (const code of ['a', 'b']) w.remote(code).failure = 'unreachable'
      return uuid
    },
    request: edit({ node: 'b' }),
    status: 200,
    effects: async (w, uuid) => {
      expect(clientsOf(w, 'a')).toEqual([[uuid, 'a']])
      for (const code of ['a', 'b']) w.remote(code).failure = null
      await w.s.nodeSync.syncAll({ force: false, remove: true })
      expect([clientsOf(w, 'a'), clientsOf(w, 'b')]).toEqual([[], [[uuid, 'b']]])
    },
  },
  ...(
    [
      ['an unknown node', {}, { node: 'nope' }, 'unknown node'],
      ['an empty one', {}, { node: '' }, 'unknown node'],
      ['a revoked one', { active: 0 }, { node: 'b' }, 'subscription is revoked'],
      ['a number', {}, { node: 5 }, 'node must be a string'],
      [
        'an unknown node, and the time stays too',
        {},
        { node: 'nope', expires_at: '2027-01-01T00:00:00' },
        'unknown node',
      ],
    ] as const
  ).map(
    ([name, more, body, error]): Scenario => ({
      name: `400 for ${name}`,
      given: (w) => given(w, more),
      request: edit(body),
      status: 400,
      error,
    }),
  ),
  {
    name: '404 for an unknown subscription',
    given,
    request: edit({ node: 'b' })('00000000-0000-4000-8000-ffffffffffff'),
    status: 404,
    error: 'subscription not found',
  },
])
