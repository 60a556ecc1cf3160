/** What went through a node lately. Of external ones that is not known. */
import { api, ok } from '#src/admin-ui/api.ts'
import { bytes } from '#src/admin-ui/format.ts'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { TrafficChart } from '#src/admin-ui/screens/traffic/chart.tsx'
import { trafficTexts } from '#src/admin-ui/screens/traffic/texts.ts'
import { type NodeRow, nodeTexts } from './texts.ts'

const DAYS = 30

export function NodeTraffic({ node }: { node: NodeRow }) {
  const t = nodeTexts()
  const title = trafficTexts().byDay
  const traffic = useQuery(`node traffic ${node.code}`, () =>
    ok(
      api.nodes[':code'].traffic.$get({
        param: { code: node.code },
        query: { days: String(DAYS) },
      }),
    ),
  )
  return (
    <section class="stack" aria-label={title}>
      <h3>{title}</h3>
      <Loaded query={traffic} lines={5} tall>
        {(rows) => {
          const total = rows.reduce((sum, row) => sum + row.up + row.down, 0)
          if (total === 0) return <p class="muted">{t.noTraffic(DAYS)}</p>
          return (
            <>
              <p class="muted">{t.trafficSum(bytes(total), DAYS)}</p>
              <TrafficChart days={rows.map((row) => row.day)} rows={rows} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
