/** The nodes: their order, their state, what is done with them. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { relative } from '#src/admin-ui/format.ts'
import { Badge } from '#src/admin-ui/kit/badge.tsx'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Menu } from '#src/admin-ui/kit/menu.tsx'
import { Card, Note, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Reorder } from '#src/admin-ui/kit/reorder.tsx'
import { Empty, Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast, toastError } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { type Route, setQuery } from '#src/admin-ui/router.ts'
import { NodeCard } from './nodes/card.tsx'
import { AddNode } from './nodes/form.tsx'
import { NODE_TONES, type NodeRow, nodeTexts, stateOf } from './nodes/texts.ts'
import './nodes.css'

const refresh = () => invalidate('nodes', 'stats')

function useSync(blocked: string) {
  const t = nodeTexts()
  const sync = async (force: boolean) => {
    const { nodes } = await ok(api.sync.$post({ json: { force } }))
    refresh()
    // Also where it went well but for removals that were held back.
    const failed = nodes.filter((node) => node.error !== null)
    for (const { code, error } of failed) toast(t.syncFailed(code, error ?? ''), 'bad')
    if (failed.length > 0) return
    const sum = (of: 'added' | 'removed') => nodes.reduce((all, node) => all + node[of], 0)
    toast(t.synced(sum('added'), sum('removed')))
  }
  const now = useAction(() => sync(false))
  const force = useAction(async () => {
    const text = t.forceText(blocked)
    const asked = { title: t.forceTitle, text, action: t.force, danger: true }
    if (await confirm(asked)) await sync(true)
  })
  return { now, force }
}

function useNodeActions(node: NodeRow) {
  const t = nodeTexts()
  const param = { code: node.code }
  const turn = useAction(async (enabled: boolean) => {
    if (!enabled) {
      const title = t.offTitle(node.label)
      if (!(await confirm({ title, text: t.offText, action: t.offAction, danger: true }))) return
    }
    await ok(api.nodes[':code'].$patch({ param, json: { enabled } }))
    toast(enabled ? t.switchedOn(node.label) : t.switchedOff(node.label))
    refresh()
  })
  const check = useAction(async () => {
    const { alive } = await ok(api.nodes[':code'].check.$post({ param }))
    if (alive) toast(t.alive(node.label))
    else toast(t.dead(node.label), 'bad')
  })
  const remove = useAction(async () => {
    const title = t.removeTitle(node.label)
    if (!(await confirm({ title, text: t.removeText, action: t.remove, danger: true }))) return
    await ok(api.nodes[':code'].$delete({ param }))
    toast(t.removed(node.label))
    refresh()
  })
  return { turn, check, remove }
}

function NodeLine({ node }: { node: NodeRow }) {
  const t = nodeTexts()
  const { turn, check, remove } = useNodeActions(node)
  const state = stateOf(node)
  const open = () => setQuery({ node: node.code })
  return (
    <div class="node-row">
      <span class="node-code mono">{node.code}</span>
      <button type="button" class="node-name" onClick={open}>
        <b>{node.label}</b>
        <small class="muted">
          {node.address}:{node.port} · {t.kinds[node.kind]}
        </small>
      </button>
      <span class="node-state">
        <Badge tone={NODE_TONES[state]}>{t.states[state]}</Badge>
        <small class="muted">
          {node.last_seen_at === null ? t.neverSeen : t.seen(relative(node.last_seen_at))}
        </small>
      </span>
      <label class="switch">
        <input
          type="checkbox"
          role="switch"
          aria-label={t.enabled(node.label)}
          aria-checked={node.enabled}
          checked={node.enabled}
          disabled={turn.busy}
          onChange={(event) => {
            // The service has the last word.
            event.currentTarget.checked = node.enabled
            void turn.run(!node.enabled)
          }}
        />
      </label>
      <Menu
        label={t.actions(node.label)}
        items={[
          { label: t.open(node.label), icon: 'edit', onClick: open },
          { label: t.check, icon: 'bolt', onClick: check.run },
          { label: t.remove, icon: 'trash', danger: true, onClick: remove.run },
        ]}
      />
    </div>
  )
}

function BlockedNote(p: { codes: string; force: { run: () => unknown; busy: boolean } }) {
  const t = nodeTexts()
  return (
    <Note tone="warn">
      <div class="row between">
        <span>{t.blocked(p.codes)}</span>
        <Button small kind="danger" busy={p.force.busy} onClick={p.force.run}>
          {t.force}
        </Button>
      </div>
    </Note>
  )
}

const saveOrder = (codes: string[]) => ok(api.nodes.reorder.$post({ json: { codes } }))

export function Nodes({ route }: { route: Route }) {
  const t = nodeTexts()
  const nodes = useQuery('nodes', () => ok(api.nodes.$get()), { every: 30_000 })
  const [adding, setAdding] = useState(false)
  const all = nodes.data ?? []
  const blocked = all.filter((node) => node.sync_blocked).map((node) => node.code)
  const { now, force } = useSync(blocked.join(', '))
  const opened = all.find((node) => node.code === route.query.get('node'))
  const up = all.filter((node) => node.enabled && node.status === 'active').length
  return (
    <>
      <PageHeader title={t.title} sub={nodes.data ? t.sub(up, all.length) : ' '}>
        <Button icon="refresh" busy={now.busy} onClick={now.run}>
          {t.sync}
        </Button>
        <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
          {t.add}
        </Button>
      </PageHeader>
      {blocked.length > 0 && <BlockedNote codes={blocked.join(', ')} force={force} />}
      <Card flush>
        <Loaded query={nodes} lines={5} tall>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title={t.none} hint={t.noneHint} icon="nodes" />
            ) : (
              <Reorder
                label={t.list}
                items={rows}
                itemKey={(node) => node.code}
                itemName={(node) => node.label}
                onOrder={(codes) =>
                  saveOrder(codes)
                    .catch(toastError)
                    .then(() => nodes.reload())
                }
              >
                {(node) => <NodeLine node={node} />}
              </Reorder>
            )
          }
        </Loaded>
      </Card>
      {adding && <AddNode close={() => setAdding(false)} />}
      {opened && <NodeCard key={opened.code} node={opened} close={() => setQuery({ node: '' })} />}
    </>
  )
}
