/** One action on all users that are selected; who is refused stays selected, with the reason. */
import { useState } from 'preact/hooks'
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm, Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { NumberField, SelectField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Facts } from '#src/admin-ui/kit/page.tsx'
import type { Selection } from '#src/admin-ui/kit/table.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { useAction } from '#src/admin-ui/query.ts'
import { loadRefusals, noteInWords } from '#src/admin-ui/refusals.ts'
import { common } from '#src/admin-ui/texts.ts'
import { useChoices } from '../access/choices.ts'
import { PlaceFields } from '../access/place-fields.tsx'
import { accessChanged } from '../access/subscription.ts'
import { OF_PLAN, TermFields, termOf } from '../access/term-fields.tsx'
import { access } from '../access/texts.ts'
import { usersTexts } from './texts.ts'

type Outcomes = Answer<typeof api.users.bulk.$post>
type Refused = { tg_id: number; error: string }[]

/** The service takes no more in one request. */
const MOST_IDS = 1000
const REASONS_SHOWN = 100

const refusedOf = (outcomes: Outcomes): Refused =>
  outcomes.flatMap((one) => (one.ok ? [] : [{ tg_id: one.tg_id, error: one.error }]))

interface FormProps {
  ids: number[]
  close: () => void
  finish: (outcomes: Outcomes) => Promise<void>
}

const cancel = (close: () => void) => <Button onClick={close}>{common().cancel}</Button>

function GrantForm({ ids, close, finish }: FormProps) {
  const t = usersTexts().bulk
  const { placed } = useChoices()
  const form = useForm({
    initial: { node: '', plan: '', ...OF_PLAN },
    once: true,
    send: ({ endless, first_use, start_by, ...place }) =>
      ok(
        api.users.bulk.$post({
          json: {
            action: 'grant',
            tg_ids: ids,
            ...placed(place),
            ...termOf({ endless, first_use, start_by }),
          },
        }),
      ),
    done: finish,
  })
  return (
    <Dialog title={t.grantTitle(ids.length)} onClose={close}>
      <FormBox form={form} action={access().grant} always extra={cancel(close)}>
        <p class="t2">{t.grantText}</p>
        <div class="cols">
          <PlaceFields field={form.field} />
        </div>
        <TermFields form={form} />
      </FormBox>
    </Dialog>
  )
}

function ExtendForm({ ids, close, finish }: FormProps) {
  const t = usersTexts().bulk
  const form = useForm({
    initial: { days: 7 as number | null },
    once: true,
    send: ({ days }) =>
      ok(
        api.users.bulk.$post({
          json: { action: 'extend', tg_ids: ids, days: days as number },
        }),
      ),
    done: finish,
  })
  return (
    <Dialog title={t.extendTitle(ids.length)} onClose={close}>
      <FormBox form={form} action={t.extend} always extra={cancel(close)}>
        <p class="t2">{t.extendText}</p>
        <NumberField
          label={access().days}
          unit={access().daysUnit}
          min={1}
          max={3650}
          {...form.field('days')}
        />
      </FormBox>
    </Dialog>
  )
}

function GroupForm({ ids, close, finish }: FormProps) {
  const t = usersTexts().bulk
  const { options } = useNodeGroups()
  const form = useForm({
    initial: { node_group: options[0]?.value ?? '' },
    send: ({ node_group }) =>
      ok(
        api.users.bulk.$post({
          json: { action: 'group', tg_ids: ids, node_group: node_group || null },
        }),
      ),
    done: finish,
  })
  return (
    <Dialog title={t.groupTitle(ids.length)} onClose={close}>
      <FormBox form={form} action={common().save} always extra={cancel(close)}>
        <p class="t2">{t.groupText}</p>
        <SelectField
          label={access().group}
          empty={access().ownServer}
          options={options}
          {...form.field('node_group')}
        />
      </FormBox>
    </Dialog>
  )
}

function RefusedDialog(p: { refused: Refused; done: number; close: () => void }) {
  const t = usersTexts().bulk
  return (
    <Dialog title={t.refusedTitle(p.refused.length)} onClose={p.close}>
      <div class="stack">
        <p class="t2">{t.refusedText(p.done)}</p>
        <Facts
          list={p.refused
            .slice(0, REASONS_SHOWN)
            .map(({ tg_id, error }) => [String(tg_id), noteInWords(error)] as const)}
        />
        <div class="row end">
          <Button kind="primary" onClick={p.close}>
            {access().done}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

export function BulkActions(p: { ids: string[]; choose: Selection }) {
  const t = usersTexts().bulk
  const [open, setOpen] = useState<'grant' | 'extend' | 'group' | null>(null)
  const { groups } = useNodeGroups()
  const [result, setResult] = useState<{ refused: Refused; done: number } | null>(null)
  const ids = p.ids.map(Number)
  const close = () => setOpen(null)
  const finish = async (outcomes: Outcomes) => {
    const refused = refusedOf(outcomes)
    if (refused.length > 0) await loadRefusals()
    const done = outcomes.length - refused.length
    close()
    accessChanged()
    p.choose.setAll(
      outcomes.flatMap((one) => (one.ok ? [String(one.tg_id)] : [])),
      false,
    )
    if (refused.length > 0) setResult({ refused, done })
    else toast(t.done(done))
  }
  const ban = useAction(async (action: 'ban' | 'unban') => {
    const banning = action === 'ban'
    const title = banning ? t.banTitle(ids.length) : t.unbanTitle(ids.length)
    const text = banning ? t.banText : t.unbanText
    if (!(await confirm({ title, text, action: t[action], danger: banning }))) return
    await finish(await ok(api.users.bulk.$post({ json: { action, tg_ids: ids } })))
  })
  if (ids.length > MOST_IDS) return <span>{t.tooMany(MOST_IDS)}</span>
  const form = { ids, close, finish }
  return (
    <>
      <Button small icon="plus" onClick={() => setOpen('grant')}>
        {t.grant}
      </Button>
      <Button small icon="calendar" onClick={() => setOpen('extend')}>
        {t.extend}
      </Button>
      {groups.length > 0 && (
        <Button small icon="nodes" onClick={() => setOpen('group')}>
          {access().group}
        </Button>
      )}
      <Button small icon="ban" busy={ban.busy} onClick={() => ban.run('ban')}>
        {t.ban}
      </Button>
      <Button small onClick={() => ban.run('unban')} disabled={ban.busy}>
        {t.unban}
      </Button>
      {open === 'grant' && <GrantForm {...form} />}
      {open === 'extend' && <ExtendForm {...form} />}
      {open === 'group' && <GroupForm {...form} />}
      {result && <RefusedDialog {...result} close={() => setResult(null)} />}
    </>
  )
}
