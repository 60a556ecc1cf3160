/** Everyone of a node goes to another one. */
import { useState } from 'preact/hooks'
import { api, ok, paged } from '#src/admin-ui/api.ts'
import { number } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { SelectField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Facts, Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useQuery } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { isForeign, type NodeRow, nodesChanged, nodeTexts } from './texts.ts'

const STATES = ['active', 'held', 'disabled', 'expired'] as const

interface Count {
  n: number
  /** There are more than that. */
  capped: boolean
}

type Counts = Record<(typeof STATES)[number], Count>

/** How many of a node are in each of the states that go along. */
async function count(node: string): Promise<Counts> {
  const counted = STATES.map(async (status) => {
    const query = { node, status, limit: '1' }
    const { total, capped } = await paged(api.subscriptions.$get({ query }))
    return [status, { n: total, capped }] as const
  })
  return Object.fromEntries(await Promise.all(counted)) as Counts
}

function sumOf(counts: Counts): Count {
  const all = Object.values(counts)
  return { n: all.reduce((sum, { n }) => sum + n, 0), capped: all.some(({ capped }) => capped) }
}

const written = ({ n, capped }: Count) => (capped ? nodeTexts().move.more(number(n)) : number(n))

interface Props {
  node: NodeRow
  /** Where they can go. */
  targets: NodeRow[]
  close: () => void
}

function MoveForm({ node, targets, counts, close }: Props & { counts: Counts }) {
  const t = nodeTexts().move
  const sum = sumOf(counts)
  const form = useForm({
    initial: { to: targets[0]?.code ?? '' },
    send: (json) => ok(api.nodes[':code'].move.$post({ param: { code: node.code }, json })),
    done: ({ moved }, { to }) => {
      toast(t.done(moved, targets.find(({ code }) => code === to)?.label ?? to))
      nodesChanged()
      invalidate('user', 'subscriptions', 'payments', 'traffic')
      close()
    },
  })
  const target = targets.find(({ code }) => code === form.values.to)
  const label = target?.label ?? ''
  return (
    <FormBox
      form={form}
      action={t.submit(written(sum), label)}
      always
      extra={<Button onClick={close}>{common().cancel}</Button>}
    >
      <SelectField
        label={t.to}
        options={targets.map((one) => ({ value: one.code, label: one.label }))}
        {...form.field('to')}
      />
      <section class="stack" aria-label={t.who(written(sum))}>
        <h3>{t.who(written(sum))}</h3>
        <Facts
          list={STATES.filter((state) => state !== 'disabled' || counts.disabled.n > 0).map(
            (state) => [t[state], written(counts[state])],
          )}
        />
      </section>
      <section class="stack" aria-label={t.notice}>
        <h3>{t.notice}</h3>
        <ul class="dots">
          <li>{(node.kind === 'external' ? t.lasts : t.ends)(node.label, label)}</li>
          <li>{t.stays}</li>
          <li>{t.payments(node.label)}</li>
        </ul>
      </section>
      {target && isForeign(target) && <Note tone="warn">{t.external(label)}</Note>}
    </FormBox>
  )
}

/** Names who goes where and what is noticed of it; sent from there. */
export function MoveDialog({ node, targets, close }: Props) {
  const t = nodeTexts().move
  // Of this opening: what another one has counted is not to be agreed to.
  const [opened] = useState(Date.now)
  const counts = useQuery(`movable ${node.code} ${opened}`, () => count(node.code), {
    every: 10_000,
  })
  return (
    <Dialog title={t.title(node.label)} onClose={close}>
      {targets.length === 0 ? (
        <Note>{t.noTarget}</Note>
      ) : (
        <Loaded query={counts} lines={6}>
          {(counted) =>
            sumOf(counted).n === 0 ? (
              <Note>{t.nobody(node.label)}</Note>
            ) : (
              <MoveForm node={node} targets={targets} counts={counted} close={close} />
            )
          }
        </Loaded>
      )}
    </Dialog>
  )
}
