/** How often a node was found up: a bar for each of the last days, a table for those who don't see it. */
import { api, ok } from '#src/admin-ui/api.ts'
import { percent, shortDay } from '#src/admin-ui/format.ts'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { daysOf, UPTIME_DAYS, uptimeOf } from './live-sums.ts'
import { type NodeRow, nodeTexts } from './texts.ts'

const EVERY_MS = 90_000
const STEP = 4
const BAR = 3
const HEIGHT = 28
/** Below it a day was a bad one. */
const GOOD = 0.99

const toneOf = (share: number) => {
  if (share === 1) return 'ok'
  return share >= GOOD ? 'warn' : 'bad'
}

function Strip({ days }: { days: ReturnType<typeof daysOf> }) {
  const t = nodeTexts().live
  const told = days.map((day) => {
    const found = uptimeOf([day])
    const text = found ? t.checks(percent(found.share, 1), found.checks) : t.unchecked
    return { day: day.day, found, text }
  })
  return (
    <figure class="uptime">
      <svg
        viewBox={`0 0 ${UPTIME_DAYS * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {told.map(({ day, found, text }, at) => (
          <rect
            key={day}
            class={found ? toneOf(found.share) : undefined}
            x={at * STEP}
            width={BAR}
            height={HEIGHT}
            rx="1"
          >
            <title>{`${shortDay(day)}: ${text}`}</title>
          </rect>
        ))}
      </svg>
      <div class="sr">
        <table>
          <caption>{t.uptime(UPTIME_DAYS)}</caption>
          <tbody>
            {told
              .filter(({ found }) => found)
              .map(({ day, text }) => (
                <tr key={day}>
                  <th scope="row">{shortDay(day)}</th>
                  <td>{text}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

export function Uptime({ node }: { node: NodeRow }) {
  const t = nodeTexts().live
  const param = { code: node.code }
  const live = useQuery(`uptime ${node.code}`, () => ok(api.nodes[':code'].live.$get({ param })), {
    every: EVERY_MS,
  })
  const title = t.uptime(UPTIME_DAYS)
  return (
    <section class="stack" aria-label={title}>
      <h3>{title}</h3>
      <Loaded query={live} lines={2}>
        {({ uptime }) => {
          const days = daysOf(uptime, new Date())
          const all = uptimeOf(days)
          if (!all) return <p class="muted">{t.unchecked}</p>
          return (
            <>
              <p class="muted num">{t.checks(percent(all.share, 1), all.checks)}</p>
              <Strip days={days} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
