/** Groups of nodes: their order, their members, how many subscriptions have them. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { Button, IconButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Menu } from '#src/admin-ui/kit/menu.tsx'
import { Card, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Reorder } from '#src/admin-ui/kit/reorder.tsx'
import { Empty, Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast, toastError } from '#src/admin-ui/kit/toast.tsx'
import { type NodeGroup, useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { useAction } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { CreateGroup, EditGroup } from './group-form.tsx'
import { SellTogether } from './sell-together.tsx'
import { NodeTabs } from './tabs.tsx'
import { groupsChanged, isSoldNode, type NodeRow, nodeTexts, useNodes } from './texts.ts'

/** Numbers the groups from 1 in their new order; only those whose place changes are sent. */
async function saveOrder(codes: string[]): Promise<void> {
  // Keys may be pressed faster than what is shown is asked for again.
  const groups = await ok(api['node-groups'].$get())
  for (const [at, code] of codes.entries()) {
    const sort_order = at + 1
    if (groups.find((group) => group.code === code)?.sort_order === sort_order) continue
    await ok(api['node-groups'][':code'].$patch({ param: { code }, json: { sort_order } }))
  }
}

/** The members by name, in display order. */
function membersOf({ nodes }: NodeGroup, all: NodeRow[]): string {
  const t = nodeTexts().groups
  const members = all.filter(({ code }) => nodes.includes(code))
  if (members.length === 0) return t.noServers
  return members.map(({ label, enabled }) => (enabled ? label : t.offOne(label))).join(', ')
}

/** All that are on; of several nodes of this machine the first, as a group can hold one. */
function togetherOf(nodes: NodeRow[]): NodeRow[] {
  const sold = nodes.filter(isSoldNode)
  const own = sold.find(({ kind }) => kind === 'local')
  return sold.filter((node) => node.kind !== 'local' || node === own)
}

function GroupLine(p: { group: NodeGroup; nodes: NodeRow[]; edit: (group: NodeGroup) => void }) {
  const t = nodeTexts().groups
  const { group } = p
  const remove = useAction(async () => {
    const title = t.removeTitle(group.label)
    const action = common().remove
    if (!(await confirm({ title, text: t.removeText, action, danger: true }))) return
    await ok(api['node-groups'][':code'].$delete({ param: { code: group.code } }))
    toast(t.removed(group.label))
    groupsChanged()
  })
  return (
    <div class="group-row">
      <div class="group-name">
        <b>{group.label}</b>
        <small class="muted">
          <span class="mono">{group.code}</span> · {membersOf(group, p.nodes)}
        </small>
        {group.hide_down && <small class="muted">{t.hides}</small>}
      </div>
      <small class="muted">{t.subscriptions(group.subscriptions)}</small>
      <div class="row">
        <IconButton icon="edit" label={t.edit(group.label)} onClick={() => p.edit(group)} />
        <Menu
          label={t.actions(group.label)}
          items={[{ label: common().remove, icon: 'trash', danger: true, onClick: remove.run }]}
        />
      </div>
    </div>
  )
}

export function Groups() {
  const t = nodeTexts()
  const { query } = useNodeGroups()
  const nodes = useNodes()
  const [open, setOpen] = useState<NodeGroup | 'new' | 'together' | null>(null)
  const close = () => setOpen(null)
  const sold = togetherOf(nodes.data ?? [])
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setOpen('new')}>
      {t.groups.add}
    </Button>
  )
  return (
    <>
      <PageHeader title={t.title} sub={t.groups.sub}>
        {create}
      </PageHeader>
      <NodeTabs current="groups" />
      <Card flush>
        <Loaded query={query} lines={3} tall>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title={t.groups.none} hint={t.groups.noneHint} icon="nodes" />
            ) : (
              <Loaded query={nodes} lines={rows.length} tall>
                {(all) => (
                  <Reorder
                    label={t.groups.list}
                    items={rows}
                    itemKey={(group) => group.code}
                    itemName={(group) => group.label}
                    onOrder={(codes) =>
                      saveOrder(codes)
                        .catch(toastError)
                        .then(() => query.reload())
                    }
                  >
                    {(group) => <GroupLine group={group} nodes={all} edit={setOpen} />}
                  </Reorder>
                )}
              </Loaded>
            )
          }
        </Loaded>
      </Card>
      {query.data?.length === 0 && sold.length > 1 && (
        <Card title={t.groups.together}>
          <div class="row between">
            <span>{t.groups.togetherText(sold.length)}</span>
            <Button onClick={() => setOpen('together')}>{t.groups.togetherAction}</Button>
          </div>
        </Card>
      )}
      {open === 'new' && <CreateGroup nodes={nodes.data ?? []} close={close} />}
      {open === 'together' && <SellTogether nodes={sold} close={close} />}
      {open !== null && typeof open === 'object' && (
        <EditGroup group={open} nodes={nodes.data ?? []} close={close} />
      )}
    </>
  )
}
