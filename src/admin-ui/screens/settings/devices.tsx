/** The device limit, and whom it locks out. */
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { NumberField, Switch } from '#src/admin-ui/kit/field.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card, Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useQuery } from '#src/admin-ui/query.ts'
import { common, shell } from '#src/admin-ui/texts.ts'
import { settingsTexts } from './texts.ts'

type Data = Answer<(typeof api)['hwid-settings']['$get']>

type Values = Omit<Data, 'fallback_limit'> & { fallback_limit: number | null }

const HIDDIFY_REQUEST = 'https://github.com/hiddify/hiddify-app/issues/1844'

function DeviceForm({ data }: { data: Data }) {
  const t = settingsTexts()
  const form: Form<Values> = useForm<Values, boolean>({
    initial: { ...data, fallback_limit: data.fallback_limit as number | null },
    send: async () => {
      const changes = form.changes() as Partial<Data>
      const question = { title: t.limitTitle, text: t.limitText, action: t.limitAction }
      if (changes.enabled && !(await confirm({ ...question, danger: true }))) return false
      await ok(api['hwid-settings'].$post({ json: changes }))
      return true
    },
    done: (sent, values) => {
      if (!sent) {
        form.reset(data)
        form.set({ fallback_limit: values.fallback_limit })
        return
      }
      toast(common().saved)
      invalidate('hwid', 'users', 'user ')
    },
  })
  return (
    <FormBox form={form}>
      <Note tone="warn">
        <p>{t.limitWarn}</p>
        <p>
          {t.limitGood}{' '}
          <a class="link" href={HIDDIFY_REQUEST} target="_blank" rel="noopener noreferrer">
            {t.limitSource}
          </a>
        </p>
      </Note>
      <Switch label={t.limitOn} {...form.field('enabled')} />
      <NumberField
        label={t.limit}
        hint={t.limitHint}
        min={1}
        max={1000}
        {...form.field('fallback_limit')}
      />
    </FormBox>
  )
}

export function Devices() {
  const t = settingsTexts()
  const limit = useQuery('hwid', () => ok(api['hwid-settings'].$get()))
  return (
    <Card title={shell().settings.devices} sub={t.devicesSub}>
      <Loaded query={limit}>{(data) => <DeviceForm data={data} />}</Loaded>
    </Card>
  )
}
