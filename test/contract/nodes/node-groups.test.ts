/** Groups of nodes: what admins do with them, and what is refused. */
import { expect } from 'vitest'
import { addGroup } from '#test/support/rows/groups.ts'
import {
  addNode,
  addPayment,
  addSubscription,
  addUser,
  auditOf,
  inSeconds,
} from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const GROUPS = '/admin/api/node-groups'

const membersOf = (w: World, code: string) =>
  w
    .rows('select node from node_group_nodes where group_code = ? order by node', code)
    .map(({ node }) => node)

const homesOf = (w: World) =>
  w.rows('select node, count(*) as n from subscriptions group by node order by node')

/** A group of de1 and nl1, and the plan 3m sold with it. */
const withGroup = (w: World) => {
  addNode(w, 'nl1')
  addNode(w, 'us1')
  addGroup(w, 'all', 'de1', 'nl1')
  w.change("update plans set node_group = 'all' where code = '3m'")
}

const VIEW = {
  code: 'all',
  label: 'Label of all',
  nodes: ['de1', 'nl1'],
  sort_order: 1,
  hide_down: false,
  subscriptions: 0,
  created_at: '2026-03-01T12:00:00',
}

scenarios('GET /admin/api/node-groups', [
  { name: '200 with none at first', request: { path: GROUPS }, status: 200, body: [] },
  {
    name: '200 with members in display order, and how many have it',
    given: (w) => {
      withGroup(w)
      w.change("update nodes set sort_order = 0 where code = 'nl1'")
      addUser(w, 7)
      addSubscription(w, 7, { node_group: 'all' })
      addSubscription(w, 7, { node_group: 'all', active: 0 })
      addSubscription(w, 7)
    },
    request: { path: GROUPS },
    status: 200,
    body: [{ ...VIEW, nodes: ['nl1', 'de1'], subscriptions: 1 }],
  },
  {
    name: '200 with one',
    given: withGroup,
    request: { path: `${GROUPS}/all` },
    status: 200,
    body: VIEW,
  },
  {
    name: '404 for one that there is not',
    request: { path: `${GROUPS}/none` },
    status: 404,
    error: 'node group not found',
  },
])

const refusesGroup = (body: unknown, error: string | RegExp, given = withGroup): Scenario => ({
  name: `400 for ${JSON.stringify(body)}`,
  given,
  request: { path: GROUPS, body },
  status: 400,
  error,
})

scenarios('POST /admin/api/node-groups', [
  {
    name: '200 with a code made of the label, each member once',
    given: (w) => addNode(w, 'nl1'),
    request: { path: GROUPS, body: { label: 'All Servers · EU', nodes: ['nl1', 'de1', 'nl1'] } },
    status: 200,
    body: {
      ...VIEW,
      code: 'all-servers-eu',
      label: 'All Servers · EU',
    },
    effects: (w) => {
      expect(membersOf(w, 'all-servers-eu')).toEqual(['de1', 'nl1'])
      expect(auditOf(w)).toEqual(['group.create'])
    },
  },
  {
    name: '200 for a label in Russian, with its own place',
    request: {
      path: GROUPS,
      body: { label: 'Все серверы', nodes: [], sort_order: 9, hide_down: true },
    },
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(json).toMatchObject({
        ...{ code: 'vse-servery', label: 'Все серверы' },
        ...{ nodes: [], sort_order: 9, hide_down: true },
      }),
  },
  {
    name: '200 for a label of whose letters no code is made',
    request: { path: GROUPS, body: { label: '🌍', nodes: [] } },
    status: 200,
    effects: (_w, _given, { json }) => expect(json.code).toMatch(/^group-[0-9a-f]{8}$/),
  },
  refusesGroup({}, /^label /),
  refusesGroup({ label: ' ', nodes: [] }, /^label /),
  refusesGroup({ label: 'A' }, /^nodes /),
  refusesGroup({ label: 'A', nodes: 'de1' }, /^nodes /),
  refusesGroup({ label: 'A', nodes: [5] }, /^nodes.0 /),
  refusesGroup({ label: 'A', nodes: [], code: 'a b' }, /^code /),
  refusesGroup({ label: 'A', nodes: [], code: 'constructor' }, /^code /),
  refusesGroup({ label: 'A', nodes: [], hide_down: 1 }, /^hide_down /),
  refusesGroup({ label: 'A', nodes: ['de1', 'gone'] }, 'unknown node'),
  refusesGroup({ label: 'A', nodes: [], code: 'all' }, 'node group code is taken'),
  refusesGroup({ label: 'A', nodes: ['de1', 'de2'] }, 'a group can hold one local node', (w) =>
    addNode(w, 'de2', { kind: 'local' }),
  ),
])

const patch = (body: unknown, code = 'all') => ({
  path: `${GROUPS}/${code}`,
  method: 'PATCH',
  body,
})

scenarios('PATCH /admin/api/node-groups/{code}', [
  {
    name: '200 with another label and place, the members as they were',
    given: withGroup,
    request: patch({ label: 'Все серверы', sort_order: 3, hide_down: true }),
    status: 200,
    body: { ...VIEW, label: 'Все серверы', sort_order: 3, hide_down: true, sync: [] },
    effects: (w) => expect(auditOf(w)).toEqual(['group.edit']),
  },
  {
    name: '200 without a change, of which nothing is noted',
    given: withGroup,
    request: patch({ nodes: ['nl1', 'de1'] }),
    status: 200,
    body: { ...VIEW, sync: [] },
    effects: (w) => expect(auditOf(w)).toEqual([]),
  },
  {
    name: '200 where a member leaves: its subscriptions get another as home, unpaid renewals too',
    given: (w) => {
      withGroup(w)
      addUser(w, 7)
      for (let i = 0; i < 120; i++) addSubscription(w, 7, { node_group: 'all' })
      addSubscription(w, 7)
      const revoked = addSubscription(w, 7, { node_group: 'all', active: 0 })
      const renewed = addSubscription(w, 7, { node_group: 'all' })
      addPayment(w, { tg_id: 7, renews_uuid: renewed, node_group: 'all', amount: 1 })
      return { revoked }
    },
    request: patch({ nodes: ['nl1', 'us1'] }),
    status: 200,
    effects: (w, { revoked }, { json }) => {
      expect(json).toMatchObject({ nodes: ['nl1', 'us1'], subscriptions: 121 })
      expect(homesOf(w)).toEqual([
        { node: 'de1', n: 2 },
        { node: 'nl1', n: 121 },
      ])
      expect(w.rows('select node from subscriptions where uuid = ?', revoked)).toEqual([
        { node: 'de1' },
      ])
      expect(w.rows('select node from payments')).toEqual([{ node: 'nl1' }])
      expect(auditOf(w)).toEqual(['group.edit'])
    },
  },
  {
    name: '200 where all members are exchanged at once',
    given: (w) => {
      withGroup(w)
      addUser(w, 7)
      for (let i = 0; i < 60; i++) addSubscription(w, 7, { node_group: 'all' })
    },
    request: patch({ nodes: ['us1'] }),
    status: 200,
    effects: (w) => {
      expect(homesOf(w)).toEqual([{ node: 'us1', n: 60 }])
      expect(membersOf(w, 'all')).toEqual(['us1'])
    },
  },
  {
    name: '200 without members where nothing needs it',
    given: (w) => {
      withGroup(w)
      w.change('update plans set node_group = null')
      addUser(w, 7)
      addSubscription(w, 7, { node_group: 'all', expires_at: inSeconds(w, -1) })
    },
    request: patch({ nodes: [] }),
    status: 200,
    effects: (w) => expect(membersOf(w, 'all')).toEqual([]),
  },
  {
    name: '400 where the last member of one that is sold would leave',
    given: withGroup,
    request: patch({ nodes: [] }),
    status: 400,
    error: 'the node group needs an enabled node',
  },
  {
    name: '400 for a local node beside the home of a subscription on another one',
    given: (w) => {
      withGroup(w)
      addNode(w, 'de2', { kind: 'local' })
      w.change("delete from node_group_nodes where node = 'de1'")
      addUser(w, 7)
      addSubscription(w, 7, { node_group: 'all' })
    },
    request: patch({ nodes: ['nl1', 'de2'] }),
    status: 400,
    error: 'a subscription can be on one local node: its group has another',
  },
  {
    name: '400 for a node that there is not',
    given: withGroup,
    request: patch({ nodes: ['gone'] }),
    status: 400,
    error: 'unknown node',
  },
  {
    name: '404 for one that there is not',
    request: patch({ label: 'A' }),
    status: 404,
    error: 'node group not found',
  },
])

const remove = { path: `${GROUPS}/all`, method: 'DELETE' }

/** A group that nothing names. */
const withIdleGroup = (w: World) => {
  withGroup(w)
  w.change('update plans set node_group = null')
}

const keepsGroup = (what: string, given: (w: World) => void): Scenario => ({
  name: `400 while ${what} names it`,
  given: (w) => {
    withIdleGroup(w)
    given(w)
  },
  request: remove,
  status: 400,
  error: 'node group is used by a plan, a gift code, a pending payment or a subscription',
})

const gift = (w: World, more = '') =>
  w.change(
    `insert into gift_codes (code, node, plan, node_group, created_at ${more && ', used_at, used_by'})
     values ('AAAAAAAAAAAAAAAA', 'de1', '3m', 'all', '2026-03-01T12:00:00' ${more})`,
  )

scenarios('DELETE /admin/api/node-groups/{code}', [
  {
    name: '200, and its members are forgotten',
    given: (w) => {
      withIdleGroup(w)
      addUser(w, 7)
      addSubscription(w, 7, { node_group: 'all', active: 0 })
      gift(w, ", '2026-03-01T12:00:00', 7")
    },
    request: remove,
    status: 200,
    body: { ok: true },
    effects: (w) => {
      expect(w.rows('select * from node_groups')).toEqual([])
      expect(membersOf(w, 'all')).toEqual([])
      expect(auditOf(w)).toEqual(['group.delete'])
    },
  },
  keepsGroup('a plan', (w) => w.change("update plans set node_group = 'all' where code = '1m'")),
  keepsGroup('a gift code that can be redeemed', (w) => gift(w)),
  keepsGroup('a pending payment', (w) => addPayment(w, { node_group: 'all', next_check_at: null })),
  keepsGroup('an active subscription', (w) => {
    addUser(w, 7)
    addSubscription(w, 7, { node_group: 'all' })
  }),
  keepsGroup('a held subscription', (w) => {
    addUser(w, 7)
    addSubscription(w, 7, {
      node_group: 'all',
      held_at: '2026-02-01T00:00:00',
      expires_at: '2026-02-02T00:00:00',
    })
  }),
  {
    name: '404 for one that there is not',
    request: remove,
    status: 404,
    error: 'node group not found',
  },
])

const removeNode = { path: '/admin/api/nodes/nl1', method: 'DELETE' }

scenarios('DELETE /admin/api/nodes/{code}: a member', [
  {
    name: '200 where nobody is served by the group: it is a member no more',
    given: withGroup,
    request: removeNode,
    status: 200,
    effects: (w) => expect(membersOf(w, 'all')).toEqual(['de1']),
  },
  {
    name: '400 where somebody is served on it by the group',
    given: (w) => {
      withGroup(w)
      addUser(w, 7)
      addSubscription(w, 7, { node_group: 'all' })
    },
    request: removeNode,
    status: 400,
    error: 'node is in a group with active subscriptions',
  },
  {
    name: '400 for the last member of a group that is sold',
    given: (w) => {
      withGroup(w)
      w.change("delete from node_group_nodes where node = 'de1'")
    },
    request: removeNode,
    status: 400,
    error: 'the node group needs an enabled node',
  },
])

const plans = (body: object) => ({
  path: '/admin/api/plans',
  body: { code: 'new', label: 'New', days: 1, price: 5, ...body },
})

scenarios('plans with a group', [
  {
    name: '200 for a new one',
    given: withGroup,
    request: plans({ node_group: 'all' }),
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(json).toMatchObject({ code: 'new', node_group: 'all' }),
  },
  {
    name: '200 for one that is sold with none any more, which says nothing of it',
    given: withGroup,
    request: { path: '/admin/api/plans/3m', method: 'PATCH', body: { node_group: null } },
    status: 200,
    effects: (_w, _given, { json }) => expect(json).not.toHaveProperty('node_group'),
  },
  {
    name: '400 for a group that there is not',
    request: plans({ node_group: 'gone' }),
    status: 400,
    error: 'unknown node group',
  },
  {
    name: '400 for a group without an enabled node',
    given: (w) => {
      withGroup(w)
      w.change('update nodes set enabled = 0')
    },
    request: { path: '/admin/api/plans/1m', method: 'PATCH', body: { node_group: 'all' } },
    status: 400,
    error: 'the node group needs an enabled node',
  },
  {
    name: '400 for what is no code',
    request: plans({ node_group: 5 }),
    status: 400,
    error: 'node_group must be a string',
  },
])
