/** The hosts of a node on its card: where lists send apps instead of to the node itself. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { Button, IconButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Reorder } from '#src/admin-ui/kit/reorder.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast, toastError } from '#src/admin-ui/kit/toast.tsx'
import { useAction, useQuery } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { AddHost, EditHost } from './host-form.tsx'
import { type HostRow, hostsChanged, type NodeRow, nodeTexts, transportNames } from './texts.ts'

/** What an admin knows it by. */
const nameOf = ({ label, address, port }: HostRow) =>
  label || (port === null ? address : `${address}:${port}`)

function useHostActions(host: HostRow) {
  const t = nodeTexts().hosts
  const param = { code: host.node, id: String(host.id) }
  const turn = useAction(async (enabled: boolean) => {
    await ok(api.nodes[':code'].hosts[':id'].$patch({ param, json: { enabled } }))
    hostsChanged(host.node)
  })
  const remove = useAction(async () => {
    const title = t.removeTitle(nameOf(host))
    const action = common().remove
    if (!(await confirm({ title, text: t.removeText, action, danger: true }))) return
    await ok(api.nodes[':code'].hosts[':id'].$delete({ param }))
    toast(t.removed(nameOf(host)))
    hostsChanged(host.node)
  })
  return { turn, remove }
}

function HostLine({ host, edit }: { host: HostRow; edit: () => void }) {
  const t = nodeTexts().hosts
  const { turn, remove } = useHostActions(host)
  const name = nameOf(host)
  const place = [host.label !== '' && host.address, host.port !== null && `:${host.port}`]
  const details = [
    transportNames()[host.transport],
    host.label !== '' && place.filter(Boolean).join(''),
    host.formats.length > 0 && host.formats.join(', '),
  ]
  return (
    <div class="host-row">
      <div class="group-name">
        <b>{name}</b>
        <small class="muted">{details.filter(Boolean).join(' · ')}</small>
      </div>
      <label class="switch">
        <input
          type="checkbox"
          role="switch"
          aria-label={t.enabled(name)}
          aria-checked={host.enabled}
          checked={host.enabled}
          disabled={turn.busy}
          onChange={(event) => {
            // The service has the last word.
            event.currentTarget.checked = host.enabled
            void turn.run(!host.enabled)
          }}
        />
      </label>
      <div class="row">
        <IconButton icon="edit" label={t.edit(name)} onClick={edit} />
        <IconButton icon="trash" label={t.remove(name)} onClick={remove.run} />
      </div>
    </div>
  )
}

export function Hosts({ node }: { node: NodeRow }) {
  const t = nodeTexts().hosts
  const { code } = node
  const param = { code }
  const query = useQuery(`hosts ${code}`, () => ok(api.nodes[':code'].hosts.$get({ param })))
  const [open, setOpen] = useState<HostRow | 'new' | null>(null)
  const close = () => setOpen(null)
  const order = (ids: string[]) =>
    ok(api.nodes[':code'].hosts.order.$post({ param, json: { ids: ids.map(Number) } }))
  return (
    <section class="stack" aria-label={t.title}>
      <div class="row between">
        <h3>{t.title}</h3>
        <Button small icon="plus" onClick={() => setOpen('new')}>
          {t.add}
        </Button>
      </div>
      <p class="muted">{t.what}</p>
      <Loaded query={query} lines={1}>
        {(rows) =>
          rows.length === 0 ? null : (
            <Reorder
              label={t.list}
              items={rows}
              itemKey={({ id }) => String(id)}
              itemName={nameOf}
              onOrder={(ids) =>
                order(ids)
                  .catch(toastError)
                  .then(() => query.reload())
              }
            >
              {(host) => <HostLine host={host} edit={() => setOpen(host)} />}
            </Reorder>
          )
        }
      </Loaded>
      {open === 'new' && <AddHost node={node} close={close} />}
      {open !== null && open !== 'new' && <EditHost host={open} kind={node.kind} close={close} />}
    </section>
  )
}
