/** Traffic: by day, and who has most of it. */
import { type Answer, api, ok, pagedIn } from '#src/admin-ui/api.ts'
import { bytes, percent } from '#src/admin-ui/format.ts'
import { Meter } from '#src/admin-ui/kit/badge.tsx'
import { Segments } from '#src/admin-ui/kit/field.tsx'
import { ListView } from '#src/admin-ui/kit/list-view.tsx'
import { Card, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Empty, Loaded } from '#src/admin-ui/kit/state.tsx'
import type { Column } from '#src/admin-ui/kit/table.tsx'
import { useList } from '#src/admin-ui/list.ts'
import { useQuery } from '#src/admin-ui/query.ts'
import { type Route, setQuery } from '#src/admin-ui/router.ts'
import { common } from '#src/admin-ui/texts.ts'
import { TrafficChart } from './chart.tsx'
import { trafficTexts } from './texts.ts'
import './traffic.css'

const PERIODS = ['7', '30', '90', '365'] as const
type Period = (typeof PERIODS)[number]

type Entry = Answer<(typeof api)['traffic']['$get']>['entries'][number]

function Chart({ route }: { route: Route }) {
  const t = trafficTexts()
  const asked = route.query.get('days') as Period | null
  const days = asked && PERIODS.includes(asked) ? asked : '30'
  const series = useQuery(`series ${days}`, () => ok(api.stats.series.$get({ query: { days } })))
  return (
    <Card
      title={t.byDay}
      actions={
        <Segments
          label={t.period}
          value={days}
          options={PERIODS.map((value) => ({ value, label: t.days(Number(value)) }))}
          onValue={(value) => setQuery({ days: value === '30' ? '' : value })}
        />
      }
    >
      <Loaded query={series} lines={5} tall>
        {(rows) => <TrafficChart days={rows.map((row) => row.date)} rows={rows} />}
      </Loaded>
    </Card>
  )
}

function columnsOf(all: number): Column<Entry>[] {
  const t = trafficTexts()
  const share = (entry: Entry) => (all === 0 ? 0 : (entry.up + entry.down) / all)
  return [
    { key: 'user', title: t.user, phone: 'lead', cell: (entry) => <b>{entry.username}</b> },
    { key: 'node', title: common().node, cell: (entry) => entry.node_label },
    { key: 'down', title: t.down, end: true, cell: (entry) => bytes(entry.down) },
    { key: 'up', title: t.up, end: true, cell: (entry) => bytes(entry.up) },
    {
      key: 'total',
      title: t.total,
      end: true,
      phone: 'state',
      cell: (entry) => <b>{bytes(entry.up + entry.down)}</b>,
    },
    {
      key: 'share',
      title: t.share,
      end: true,
      phone: 'off',
      cell: (entry) => (
        <span class="traffic-share">
          <Meter share={share(entry)} label={t.shareOf(entry.username)} />
          <span class="num">{percent(share(entry), 1)}</span>
        </span>
      ),
    },
  ]
}

export function Traffic({ route }: { route: Route }) {
  const t = trafficTexts()
  const list = useList({
    key: 'traffic',
    defaults: {},
    load: (query) =>
      pagedIn(api.traffic.$get({ query }), ({ entries, up, down }) => ({
        rows: entries,
        all: up + down,
      })),
  })
  const all = list.page?.all
  return (
    <>
      <PageHeader title={t.title} sub={all === undefined ? ' ' : t.sub(bytes(all))} />
      <Chart route={route} />
      <ListView
        list={list}
        title={t.top}
        caption={t.top}
        columns={columnsOf(all ?? 0)}
        rowKey={(entry) => entry.uuid}
        empty={<Empty title={t.none} hint={t.noneHint} icon="traffic" />}
      />
    </>
  )
}
