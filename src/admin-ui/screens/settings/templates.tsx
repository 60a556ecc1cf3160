/** Lists as the operator writes them in place of our own. */
import { useEffect, useState } from 'preact/hooks'
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { ApiError } from '#src/admin-ui/api-error.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm, Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { Segments, TextArea } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card, Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { inWords, loadRefusals } from '#src/admin-ui/refusals.ts'
import { common } from '#src/admin-ui/texts.ts'
import { type Customer, CustomerChoice, ListText } from './list-preview.tsx'
import { settingsTexts } from './texts.ts'

type Data = Answer<(typeof api)['settings']['templates']['$get']>
type Template = Data['templates'][number]
type Format = Template['format']

const save = (format: Format, body: string) =>
  ok(api.settings.templates.$post({ json: { format, body } }))

/** The list of a customer by what is typed, before it is saved. */
function Preview(p: { format: Format; body: string; close: () => void }) {
  const t = settingsTexts()
  const [customer, setCustomer] = useState<Customer | null>(null)
  return (
    <Dialog title={t.templatePreview} wide onClose={p.close}>
      <div class="stack">
        <CustomerChoice customer={customer} choose={setCustomer} />
        {customer && <Written {...p} tgId={customer.tgId} />}
      </div>
    </Dialog>
  )
}

function Written(p: { format: Format; body: string; tgId: number }) {
  const { format, body, tgId } = p
  const list = useQuery(
    `template-list ${tgId} ${format} ${body}`,
    () => ok(api.settings.templates.preview.$post({ json: { format, body, tg_id: tgId } })),
    { stale: 0 },
  )
  return (
    <Loaded query={list} lines={6}>
      {(shown) => <ListText body={shown.body} />}
    </Loaded>
  )
}

/** What is wrong with one that is kept, in the panel's language once its words are there. */
function Fault({ fault }: { fault: NonNullable<Template['fault']> }) {
  const [, setLoaded] = useState(false)
  useEffect(() => {
    void loadRefusals().then(() => setLoaded(true))
  }, [])
  const { error, code, values } = fault
  const words = inWords(new ApiError(400, error, code, values))
  return <Note tone="bad">{settingsTexts().templateFault(words)}</Note>
}

function TemplateForm({ template }: { template: Template }) {
  const t = settingsTexts()
  const [isPreviewed, setPreviewed] = useState(false)
  const { format, fault, built_in: builtIn } = template
  const form = useForm({
    initial: { body: template.body ?? '' },
    send: ({ body }) => save(format, body),
    done: ({ checked_by: by }) => {
      toast(by === 'structure' ? t.templateUnchecked : common().saved)
      invalidate('templates')
    },
  })
  const reset = useAction(async () => {
    const question = { title: t.templateResetTitle, text: t.templateResetText, danger: true }
    if (!(await confirm({ ...question, action: t.templateReset }))) return
    await save(format, '')
    form.reset({ body: '' })
    toast(common().saved)
    invalidate('templates')
  })
  return (
    <>
      <FormBox
        form={form}
        action={t.templateSave}
        extra={
          <>
            {template.body !== null && (
              <Button kind="danger" busy={reset.busy} onClick={reset.run}>
                {t.templateReset}
              </Button>
            )}
            <Button onClick={() => form.set({ body: builtIn })}>{t.templateBegin}</Button>
            <Button icon="eye" onClick={() => setPreviewed(true)}>
              {t.templatePreview}
            </Button>
          </>
        }
      >
        {fault && <Fault fault={fault} />}
        <TextArea
          label={t.templateOf[format]}
          hint={template.body === null && !form.changed ? t.templateNone : t.templateHint}
          rows={18}
          mono
          {...form.field('body')}
        />
      </FormBox>
      {isPreviewed && (
        <Preview format={format} body={form.values.body} close={() => setPreviewed(false)} />
      )}
    </>
  )
}

export function Templates() {
  const t = settingsTexts()
  const [format, setFormat] = useState<Format>('mihomo')
  const templates = useQuery('templates', () => ok(api.settings.templates.$get()))
  return (
    <Card title={t.templates} sub={t.templatesSub}>
      <Loaded query={templates}>
        {(data) => (
          <div class="stack">
            <Segments
              label={t.templateFormat}
              value={format}
              onValue={setFormat}
              options={data.templates.map((one) => ({
                value: one.format,
                label: t.templateFormats[one.format],
              }))}
            />
            {data.templates.map(
              (one) => one.format === format && <TemplateForm key={one.format} template={one} />,
            )}
          </div>
        )}
      </Loaded>
    </Card>
  )
}
