/** Makes a traffic pack, or changes one. */

import { api, ok } from '#src/admin-ui/api.ts'
import { boot } from '#src/admin-ui/boot.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { NumberField, TextField } from '#src/admin-ui/kit/field.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { GbField } from '#src/admin-ui/quotas.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { type Pack, packsChanged, packTexts } from './pack-texts.ts'

interface Values {
  label: string
  gb: number | null
  price: number | null
  price_stars: number | null
}

/** The service says what is wrong with a field that is empty. */
type Sent = { [K in keyof Values]: K extends 'gb' | 'price' ? number : Values[K] }

function Fields({ form, focus }: { form: Form<Values>; focus?: boolean }) {
  const t = packTexts()
  return (
    <>
      <TextField
        label={t.label}
        hint={t.labelHint}
        required
        focus={focus ?? false}
        {...form.field('label')}
      />
      <div class="cols">
        <GbField label={t.gb} hint={t.gbHint} min={1} required {...form.field('gb')} />
        <NumberField
          label={t.price}
          unit={boot.currency}
          min={0}
          required
          {...form.field('price')}
        />
        <NumberField
          label={t.priceStars}
          hint={t.starsHint}
          min={1}
          {...form.field('price_stars')}
        />
      </div>
    </>
  )
}

export function CreatePack({ close }: { close: () => void }) {
  const t = packTexts()
  const form = useForm({
    initial: {
      code: '',
      label: '',
      gb: null as number | null,
      price: null as number | null,
      price_stars: null as number | null,
    },
    send: ({ code, ...values }) =>
      ok(api['traffic-packs'].$post({ json: { code, ...(values as Sent) } })),
    done: (pack) => {
      toast(t.created(pack.label))
      packsChanged()
      close()
    },
  })
  return (
    <Dialog title={t.create} onClose={close}>
      <FormBox
        form={form}
        action={t.createAction}
        extra={<Button onClick={close}>{common().cancel}</Button>}
      >
        <TextField
          label={t.code}
          hint={t.codeHint}
          mono
          focus
          required
          maxLength={32}
          {...form.field('code')}
        />
        <Fields form={form as unknown as Form<Values>} />
      </FormBox>
    </Dialog>
  )
}

export function EditPack({ pack, close }: { pack: Pack; close: () => void }) {
  const t = packTexts()
  const { code, label, gb, price, price_stars } = pack
  const form: Form<Values> = useForm<Values, unknown>({
    initial: { label, gb, price, price_stars },
    send: (_values, changes) =>
      ok(api['traffic-packs'][':code'].$patch({ param: { code }, json: changes as Partial<Sent> })),
    done: () => {
      toast(common().saved)
      packsChanged()
      close()
    },
  })
  return (
    <Dialog title={t.edit(label)} onClose={close}>
      <FormBox form={form} extra={<Button onClick={close}>{common().cancel}</Button>}>
        <Fields form={form} focus />
      </FormBox>
    </Dialog>
  )
}
