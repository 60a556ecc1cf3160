/** One node in the list: how it is, its switch, and what is done with it. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { number, relative } from '#src/admin-ui/format.ts'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Menu } from '#src/admin-ui/kit/menu.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import type { LiveNode } from '#src/admin-ui/live.ts'
import { useAction } from '#src/admin-ui/query.ts'
import { Said } from '#src/admin-ui/refusals.ts'
import { setQuery } from '#src/admin-ui/router.ts'
import { NodeBadge } from '#src/admin-ui/states.tsx'
import { NodeNow } from './live.tsx'
import { isCounted } from './live-sums.ts'
import { MoveDialog } from './move.tsx'
import { isOwn, isSoldNode, type NodeRow, nodesChanged, nodeTexts, setupHref } from './texts.ts'

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
    nodesChanged()
  })
  const check = useAction(async () => {
    const { alive } = await ok(api.nodes[':code'].check.$post({ param }))
    if (alive) toast(t.alive(node.label))
    else toast(t.dead(node.label), 'bad')
    nodesChanged()
  })
  const remove = useAction(async () => {
    const title = t.removeTitle(node.label)
    const text = node.kind === 'managed' ? t.removeManaged : t.removeText
    if (!(await confirm({ title, text, action: t.remove, danger: true }))) return
    await ok(api.nodes[':code'].$delete({ param }))
    toast(t.removed(node.label))
    nodesChanged()
  })
  return { turn, check, remove }
}

function NodeMenu(p: {
  node: NodeRow
  open: () => void
  move: () => void
  check: () => unknown
  remove: () => unknown
}) {
  const t = nodeTexts()
  const { node } = p
  const setup = {
    label: node.status === 'active' ? t.reinstall : t.goOn,
    icon: 'command' as const,
    onClick: () => {
      location.hash = setupHref(node.code)
    },
  }
  return (
    <Menu
      label={t.actions(node.label)}
      items={[
        { label: t.open(node.label), icon: 'edit', onClick: p.open },
        node.presented_host_key !== null && {
          label: t.key.compare,
          icon: 'key',
          onClick: () => setQuery({ trust: node.code }),
        },
        node.kind === 'managed' && setup,
        { label: t.check, icon: 'bolt', onClick: p.check },
        { label: t.move.action, icon: 'send', onClick: p.move },
        !isOwn(node) && { label: t.remove, icon: 'trash', danger: true, onClick: p.remove },
      ]}
    />
  )
}

/** How it does now, where that can be told; its place is held until it is known. */
function Now({ node, live }: { node: NodeRow; live: LiveNode | undefined }) {
  if (live) return isCounted(live) ? <NodeNow node={live} /> : null
  const awaited = node.last_seen_at !== null && node.last_error === null
  return awaited ? <div class="node-live awaited" /> : null
}

export function NodeLine(p: {
  node: NodeRow
  nodes: NodeRow[]
  /** How it does now; undefined until that is known. */
  live: LiveNode | undefined
}) {
  const { node, nodes, live } = p
  const t = nodeTexts()
  const { turn, check, remove } = useNodeActions(node)
  const [moving, setMoving] = useState(false)
  const open = () => setQuery({ node: node.code })
  // The list is not asked for again with every pass.
  const seenAt = live?.last_seen_at ?? node.last_seen_at
  return (
    <div class="node-row">
      <span class="node-code mono">{node.code}</span>
      <button type="button" class="node-name" onClick={open}>
        <b>{node.label}</b>
        <small class="muted">
          {node.address}:{node.port} · {t.kinds[node.kind]}
          {node.traffic_ratio !== undefined && ` · ${t.ratioIs(number(node.traffic_ratio / 100))}`}
        </small>
        {node.last_error !== null && (
          <small class="node-fault">
            <Said text={node.last_error} />
          </small>
        )}
      </button>
      <span class="node-state">
        <NodeBadge node={node} />
        {node.kind !== 'external' && (
          <small class="muted">{seenAt === null ? t.neverSeen : t.seen(relative(seenAt))}</small>
        )}
      </span>
      <label class="switch" title={isOwn(node) ? t.ownSwitch : undefined}>
        <input
          type="checkbox"
          role="switch"
          aria-label={t.enabled(node.label)}
          aria-checked={node.enabled}
          checked={node.enabled}
          disabled={turn.busy || isOwn(node)}
          onChange={(event) => {
            // The service has the last word.
            event.currentTarget.checked = node.enabled
            void turn.run(!node.enabled)
          }}
        />
      </label>
      <NodeMenu
        node={node}
        open={open}
        move={() => setMoving(true)}
        check={check.run}
        remove={remove.run}
      />
      <Now node={node} live={live} />
      {moving && (
        <MoveDialog
          node={node}
          targets={nodes.filter((one) => one.code !== node.code && isSoldNode(one))}
          close={() => setMoving(false)}
        />
      )}
    </div>
  )
}
