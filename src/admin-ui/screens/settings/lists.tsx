/** What connection lists say beside their entries: routing, and who gets Xray JSON. */
import { type Answer, api, ok } from '#src/admin-ui/api.ts'
import { NumberField, SelectField, Switch, TextArea, TextField } from '#src/admin-ui/kit/field.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Card, Note } from '#src/admin-ui/kit/page.tsx'
import { Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { invalidate, useQuery } from '#src/admin-ui/query.ts'
import { type RoutingPreset, routingOptions } from '#src/admin-ui/routing.ts'
import { common, shell } from '#src/admin-ui/texts.ts'
import { ListPreview } from './list-preview.tsx'
import { Templates } from './templates.tsx'
import { settingsTexts } from './texts.ts'

type Data = Answer<(typeof api)['settings']['lists']['$get']>

interface Values {
  routing_preset: RoutingPreset
  routing_ads: boolean
  ruleset_base_url: string
  xray_json_agents: string
  node_change_hours: number | null
}

const BETWEEN_WORDS = /[\s,]+/

function ListForm({ data }: { data: Data }) {
  const t = settingsTexts()
  const form: Form<Values> = useForm<Values, unknown>({
    initial: {
      routing_preset: data.routing_preset as RoutingPreset,
      routing_ads: data.routing_ads,
      ruleset_base_url: data.ruleset_base_url,
      xray_json_agents: data.xray_json_agents.join('\n'),
      node_change_hours: data.node_change_hours,
    },
    send: () => {
      const { xray_json_agents: words, node_change_hours: hours, ...changes } = form.changes()
      const agents = words?.split(BETWEEN_WORDS).filter((word) => word !== '')
      const json = {
        ...changes,
        ...(agents && { xray_json_agents: agents }),
        ...(hours !== undefined && { node_change_hours: hours as number }),
      }
      return ok(api.settings.lists.$post({ json }))
    },
    between: BETWEEN_WORDS,
    done: () => {
      toast(common().saved)
      invalidate('lists')
    },
  })
  return (
    <FormBox form={form}>
      {data.missing_rules && (
        <Note tone="warn">{t.rulesMissing(data.missing_rules.join(', '))}</Note>
      )}
      <SelectField
        label={t.routing}
        hint={t.routingHint}
        options={routingOptions()}
        {...form.field('routing_preset')}
      />
      <Switch label={t.routingAds} hint={t.routingAdsHint} {...form.field('routing_ads')} />
      <TextField
        label={t.rulesUrl}
        hint={t.rulesUrlHint}
        inputMode="url"
        {...form.field('ruleset_base_url')}
      />
      <TextArea
        label={t.jsonAgents}
        hint={t.jsonAgentsHint}
        mono
        {...form.field('xray_json_agents')}
      />
      <NumberField
        label={t.nodeChange}
        hint={t.nodeChangeHint}
        min={0}
        max={8760}
        unit={t.nodeChangeUnit}
        {...form.field('node_change_hours')}
      />
    </FormBox>
  )
}

export function Lists() {
  const t = settingsTexts()
  const lists = useQuery('lists', () => ok(api.settings.lists.$get()))
  return (
    <>
      <Card title={shell().settings.lists} sub={t.listsSub}>
        <Loaded query={lists}>{(data) => <ListForm data={data} />}</Loaded>
      </Card>
      <Templates />
      <ListPreview />
    </>
  )
}
