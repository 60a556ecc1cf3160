/** One node beside the list: how it is, and what it is. */
import { api, ok } from '#src/admin-ui/api.ts'
import { dateTime, duration, number } from '#src/admin-ui/format.ts'
import { LinkButton } from '#src/admin-ui/kit/button.tsx'
import { Drawer } from '#src/admin-ui/kit/dialog.tsx'
import { Facts, Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { Said } from '#src/admin-ui/refusals.ts'
import { NodeBadge } from '#src/admin-ui/states.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { EditNode } from './form.tsx'
import { KeyAlarm } from './host-key.tsx'
import { Hosts } from './hosts.tsx'
import { type NodeRow, nodeTexts, setupHref } from './texts.ts'
import { NodeTraffic } from './traffic.tsx'
import { Uptime } from './uptime.tsx'

function Health({ node }: { node: NodeRow }) {
  const t = nodeTexts()
  const metrics = useQuery(
    `metrics ${node.code}`,
    () => ok(api.nodes[':code'].metrics.$get({ param: { code: node.code } })),
    { every: 30_000 },
  )
  if (node.kind === 'external') return <p class="muted">{t.externalHealth}</p>
  return (
    <Loaded query={metrics} lines={4}>
      {(m) => (
        <div class="stack">
          {m.error && m.error !== node.last_error && (
            <Note tone="bad">
              <Said text={m.error} />
            </Note>
          )}
          {m.ok && (
            <Facts
              list={[
                [t.memory, m.mem_fmt],
                m.uptime_s !== null && [t.uptime, duration(m.uptime_s)],
                [t.core, m.core_up ? (m.core_version ?? common().on) : t.coreDown],
                m.clients != null && [t.clients, number(m.clients)],
                m.load1 != null && [
                  t.load,
                  `${m.load1}${m.cpu_count ? ` / ${t.cpus(m.cpu_count)}` : ''}`,
                ],
              ]}
            />
          )}
        </div>
      )}
    </Loaded>
  )
}

/** That the node's program must be brought up to date, and why. */
function Outdated({ node }: { node: NodeRow }) {
  const t = nodeTexts()
  if (!node.outdated) return null
  return (
    <Note tone="warn">
      <div class="stack">
        <span>{t.outdated}</span>
        {node.outdated.lacks.includes('port-hopping') && <span>{t.lacksHopping}</span>}
        <div class="row end">
          <LinkButton small href={setupHref(node.code)}>
            {t.reinstall}
          </LinkButton>
        </div>
      </div>
    </Note>
  )
}

function Unfinished({ node }: { node: NodeRow }) {
  const t = nodeTexts()
  return (
    <Note tone={node.status === 'failed' ? 'bad' : 'info'}>
      <div class="stack">
        <span>{node.last_error === null ? t.notSetUp : <Said text={node.last_error} />}</span>
        <div class="row end">
          <LinkButton small href={setupHref(node.code)}>
            {t.goOn}
          </LinkButton>
        </div>
      </div>
    </Note>
  )
}

/** How the node is: what stands in its way, else its machine. */
function State({ node }: { node: NodeRow }) {
  const t = nodeTexts()
  if (node.presented_host_key !== null) return <KeyAlarm node={node} />
  if (node.status !== 'active') return <Unfinished node={node} />
  return (
    <section class="stack" aria-label={t.health}>
      <h3>{t.health}</h3>
      {node.last_error !== null && (
        <Note tone="bad">
          <Said text={node.last_error} />
        </Note>
      )}
      <Health node={node} />
    </section>
  )
}

export function NodeCard({ node, close }: { node: NodeRow; close: () => void }) {
  const t = nodeTexts()
  const transports = node.transports_json.map(({ type, port }) => `${type} :${port}`)
  return (
    <Drawer title={node.label} onClose={close} actions={<NodeBadge node={node} />}>
      <div class="stack">
        <State node={node} />
        <Outdated node={node} />
        {node.kind !== 'external' && <Uptime node={node} />}
        {node.kind !== 'external' && <NodeTraffic node={node} />}
        <section class="stack" aria-label={t.connection}>
          <h3>{t.connection}</h3>
          <EditNode node={node} />
        </section>
        <Hosts node={node} />
        <section class="stack" aria-label={t.about}>
          <h3>{t.about}</h3>
          <Facts
            list={[
              [t.code, <span class="mono">{node.code}</span>],
              [t.kind, t.kinds[node.kind]],
              transports.length > 0 && [t.transports, transports.join(', ')],
              node.host_key !== null && [
                t.hostKey,
                <span class="mono break">{node.host_key}</span>,
              ],
              [common().created, dateTime(node.created_at)],
            ]}
          />
        </section>
      </div>
    </Drawer>
  )
}
