/** Makes gift codes, one or a thousand, and hands them over. */
import { useState } from 'preact/hooks'
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { Button, CopyButton } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { NumberField } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { invalidate } from '#src/admin-ui/query.ts'
import { useChoices } from '#src/admin-ui/screens/access/choices.ts'
import { PlaceFields } from '#src/admin-ui/screens/access/place-fields.tsx'
import { NOW, StartFields, startOf } from '#src/admin-ui/screens/access/term-fields.tsx'
import { access } from '#src/admin-ui/screens/access/texts.ts'
import { common } from '#src/admin-ui/texts.ts'
import { saveCreated } from './csv.ts'
import { giftTexts } from './texts.ts'

type Created = Extract<Answer<(typeof api)['gift-codes']['$post']>, unknown[]>

const MOST_CODES = 1000

function CreateForm(p: { close: () => void; made: (codes: Created) => void }) {
  const t = giftTexts()
  const { placed } = useChoices()
  const form = useForm({
    initial: {
      node: '',
      plan: '',
      count: 1 as number | null,
      expires_in_days: null as number | null,
      ...NOW,
    },
    once: true,
    send: ({ count, expires_in_days, first_use, start_by, ...place }) =>
      ok(
        api['gift-codes'].$post({
          json: {
            ...placed(place),
            count: count as number,
            expires_in_days,
            ...startOf({ first_use, start_by }),
          },
        }),
      ),
    done: (codes) => {
      invalidate('gifts', 'stats')
      p.made([codes].flat())
    },
  })
  return (
    <FormBox
      form={form}
      action={t.create}
      always
      extra={<Button onClick={p.close}>{common().cancel}</Button>}
    >
      <p class="t2">{t.createText}</p>
      <div class="cols">
        <PlaceFields field={form.field} />
        <NumberField
          label={t.count}
          unit={t.codesUnit}
          min={1}
          max={MOST_CODES}
          {...form.field('count')}
        />
        <NumberField
          label={t.expiresIn}
          hint={t.expiresHint}
          unit={access().daysUnit}
          min={1}
          max={3650}
          {...form.field('expires_in_days')}
        />
      </div>
      <StartFields form={form} />
    </FormBox>
  )
}

const textOf = ({ code, link }: Created[number]) => link ?? code

function CreatedCodes({ codes, close }: { codes: Created; close: () => void }) {
  const t = giftTexts()
  return (
    <div class="stack">
      {codes.some(({ link }) => link === null) && <Note>{t.noLinks}</Note>}
      <ul class="created-codes">
        {codes.map((created) => (
          <li key={created.code}>
            <span class="mono break">{textOf(created)}</span>
            <CopyButton iconOnly text={textOf(created)} label={t.copyCode(created.code)} />
          </li>
        ))}
      </ul>
      <div class="row end">
        <Button icon="download" onClick={() => saveCreated(codes)}>
          {t.csv}
        </Button>
        <CopyButton text={codes.map(textOf).join('\n')} label={t.copyAll(codes.length)} />
        <Button kind="primary" onClick={close}>
          {access().done}
        </Button>
      </div>
    </div>
  )
}

export function CreateDialog({ close }: { close: () => void }) {
  const t = giftTexts()
  const [codes, setCodes] = useState<Created | null>(null)
  return (
    <Dialog title={codes ? t.created(codes.length) : t.create} onClose={close}>
      {codes ? (
        <CreatedCodes codes={codes} close={close} />
      ) : (
        <CreateForm close={close} made={setCodes} />
      )}
    </Dialog>
  )
}
