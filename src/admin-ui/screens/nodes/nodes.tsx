/** The nodes: their order, their state, what is done with them, and how a server becomes one. */
import { useEffect, useRef } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { Button, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Card, Note, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Reorder } from '#src/admin-ui/kit/reorder.tsx'
import { Empty, Loaded } from '#src/admin-ui/kit/state.tsx'
import { toastError } from '#src/admin-ui/kit/toast.tsx'
import { type LiveNode, useLive } from '#src/admin-ui/live.ts'
import { invalidate, useAction } from '#src/admin-ui/query.ts'
import { href, type Route, setQuery } from '#src/admin-ui/router.ts'
import { AddServer } from './add-server.tsx'
import { NodeCard } from './card.tsx'
import { Groups } from './groups.tsx'
import { HostKeyDialog } from './host-key.tsx'
import { AllNow } from './live.tsx'
import { Retired } from './retired.tsx'
import { NodeLine } from './row.tsx'
import { SetUpNode } from './setup.tsx'
import { tellSync } from './synced.ts'
import { NodeTabs } from './tabs.tsx'
import { isSoldNode, nodesChanged, nodeTexts, useNodes } from './texts.ts'
import './nodes.css'

function useSync(blocked: string) {
  const t = nodeTexts()
  const sync = async (force: boolean) => {
    const { nodes } = await ok(api.sync.$post({ json: { force } }))
    nodesChanged()
    await tellSync(nodes, t.synced)
  }
  const now = useAction(() => sync(false))
  const force = useAction(async () => {
    const text = t.forceText(blocked)
    const asked = { title: t.forceTitle, text, action: t.force, danger: true }
    if (await confirm(asked)) await sync(true)
  })
  return { now, force }
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

/** The list is asked for again when a node does otherwise than before, comes or goes. */
function useChanges(nodes: LiveNode[] | undefined) {
  const seen = useRef('')
  const told = nodes
    ? JSON.stringify(nodes.map((node) => [node.code, node.state, node.last_error]))
    : ''
  useEffect(() => {
    if (seen.current !== '' && told !== '') invalidate('nodes')
    if (told !== '') seen.current = told
  }, [told])
}

function Servers({ route }: { route: Route }) {
  const t = nodeTexts()
  const nodes = useNodes()
  const live = useLive()
  useChanges(live.nodes)
  const all = nodes.data ?? []
  const blocked = all.filter((node) => node.sync_blocked).map((node) => node.code)
  const { now, force } = useSync(blocked.join(', '))
  const opened = all.find((node) => node.code === route.query.get('node'))
  const up = all.filter(isSoldNode).length
  return (
    <>
      <PageHeader title={t.title} sub={nodes.data ? t.sub(up, all.length) : ' '}>
        <Button icon="refresh" busy={now.busy} onClick={now.run}>
          {t.sync}
        </Button>
        <LinkButton kind="primary" icon="plus" href={href('/nodes/add')}>
          {t.add}
        </LinkButton>
      </PageHeader>
      <NodeTabs current="servers" />
      {blocked.length > 0 && <BlockedNote codes={blocked.join(', ')} force={force} />}
      {all.length > 0 && <AllNow {...live} />}
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
                {(node) => (
                  <NodeLine
                    node={node}
                    nodes={rows}
                    live={live.nodes?.find(({ code }) => code === node.code)}
                  />
                )}
              </Reorder>
            )
          }
        </Loaded>
      </Card>
      <Retired />
      {opened && <NodeCard key={opened.code} node={opened} close={() => setQuery({ node: '' })} />}
    </>
  )
}

/** The dialog of `?trust=CODE`, over whatever part of this screen. */
function TrustOf({ code }: { code: string }) {
  const node = useNodes().data?.find((one) => one.code === code)
  return node ? <HostKeyDialog node={node} /> : null
}

function Part({ route }: { route: Route }) {
  const [, part, code = ''] = route.segments
  if (part === 'add') return <AddServer />
  if (part === 'setup') return <SetUpNode key={code} code={code} />
  if (part === 'groups') return <Groups />
  return <Servers route={route} />
}

export function Nodes({ route }: { route: Route }) {
  const trust = route.query.get('trust')
  return (
    <>
      <Part route={route} />
      {trust !== null && <TrustOf key={trust} code={trust} />}
    </>
  )
}
