/** How nodes do at this moment: all of them, what is wrong, and each in its row. */
import type { ComponentChildren } from 'preact'
import { Spark } from '#src/admin-ui/charts/spark.tsx'
import { dateTime, number, percent, rate } from '#src/admin-ui/format.ts'
import { Badge, Meter } from '#src/admin-ui/kit/badge.tsx'
import { Icon, type IconName } from '#src/admin-ui/kit/icons.tsx'
import { Card } from '#src/admin-ui/kit/page.tsx'
import type { LiveNode, useLive } from '#src/admin-ui/live.ts'
import { href } from '#src/admin-ui/router.ts'
import { faultyOf, ratesOf } from './live-sums.ts'
import { nodeTexts } from './texts.ts'

/** From here on a machine has little left. */
const MUCH = 0.9

const said = (value: number | null, say: (n: number) => string) =>
  value === null ? '–' : say(value)

const Fact = (p: {
  name: string
  icon?: IconName
  class?: string
  children: ComponentChildren
}) => (
  <div class={p.class}>
    <dt>
      {p.icon && <Icon name={p.icon} />}
      {p.name}
    </dt>
    <dd>{p.children}</dd>
  </div>
)

/** Who is to be looked at, those that are down first. */
function Faulty({ nodes }: { nodes: LiveNode[] }) {
  const t = nodeTexts().live
  return (
    <div class="live-faulty" role="status" aria-label={t.faulty}>
      {nodes.map((node) => (
        <a key={node.code} href={href('/nodes', { node: node.code })}>
          <Badge tone={node.state === 'down' ? 'bad' : 'warn'}>
            {node.state === 'down' ? t.down : t.trouble}
          </Badge>
          <b>{node.label}</b>
          {node.down_since !== null && <small>{t.since(dateTime(node.down_since))}</small>}
        </a>
      ))}
    </div>
  )
}

/** All nodes together. */
export function AllNow({ nodes, online }: ReturnType<typeof useLive>) {
  const t = nodeTexts().live
  const rates = ratesOf(nodes ?? [])
  return (
    <Card class="live">
      <dl class="live-all num">
        <Fact name={t.customers} icon="users">
          {online ? number(online.customers) : '–'}
        </Fact>
        <Fact name={t.down_rate} icon="down">
          {said(rates.down, rate)}
        </Fact>
        <Fact name={t.up_rate} icon="up">
          {said(rates.up, rate)}
        </Fact>
      </dl>
      <Faulty nodes={faultyOf(nodes ?? [])} />
    </Card>
  )
}

function Share(p: { name: string; of: string; used: number; all: number; title: string }) {
  if (p.all <= 0) return null
  const share = p.used / p.all
  return (
    <Fact name={p.name} class="live-share">
      <span title={p.title}>{percent(share)}</span>
      <Meter share={share} label={`${p.name}: ${p.of}`} warn={MUCH} />
    </Fact>
  )
}

/** A node, by its last pass. */
export function NodeNow({ node }: { node: LiveNode }) {
  const t = nodeTexts()
  const { host } = node
  return (
    <dl class="node-live num">
      <Fact name={t.live.online}>{said(node.online, number)}</Fact>
      <Fact name={t.live.rates} class="live-rates">
        <span>
          <Icon name="down" />
          <span class="sr">{t.live.down_rate}</span> {said(node.down_rate, rate)}
        </span>
        <span>
          <Icon name="up" />
          <span class="sr">{t.live.up_rate}</span> {said(node.up_rate, rate)}
        </span>
        <Spark values={node.spark.map(({ up, down }) => up + down)} />
      </Fact>
      {host && (
        <>
          <Share
            name={t.load}
            of={node.label}
            used={host.load1}
            all={host.cpu_count}
            title={`${number(host.load1)} / ${t.cpus(host.cpu_count)}`}
          />
          <Share
            name={t.memory}
            of={node.label}
            used={host.mem_used_mb}
            all={host.mem_total_mb}
            title={t.live.megabytes(number(host.mem_used_mb), number(host.mem_total_mb))}
          />
        </>
      )}
      {node.core_version !== null && <Fact name={t.core}>{node.core_version}</Fact>}
    </dl>
  )
}
