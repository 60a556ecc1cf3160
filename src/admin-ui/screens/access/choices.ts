/** What can be chosen wherever access is given: nodes and plans. */
import { api, ok } from '#src/admin-ui/api.ts'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { useQuery } from '#src/admin-ui/query.ts'

const LIST_STALE_MS = 60_000

/** What is given, as forms have it. */
interface Place {
  node: string
  plan: string
}

/** All nodes and plans as options: `…All` for filters, the others for what can be given now. */
export function useChoices() {
  const nodes = useQuery('nodes', () => ok(api.nodes.$get()), { stale: LIST_STALE_MS })
  const plans = useQuery('plans', () => ok(api.plans.$get()), { stale: LIST_STALE_MS })
  const { labelOf } = useNodeGroups()
  /** The name of the group that comes with a plan. */
  const groupOf = (code: string) => {
    const group = plans.data?.find((plan) => plan.code === code)?.node_group
    return group && labelOf(group)
  }
  const option = ({ code, label }: { code: string; label: string }) => ({ value: code, label })
  return {
    ready: nodes.data !== undefined && plans.data !== undefined,
    nodes: (nodes.data ?? [])
      .filter((node) => node.enabled && node.status === 'active')
      .map(option),
    nodesAll: (nodes.data ?? []).map(option),
    plans: (plans.data ?? []).filter((plan) => !plan.archived).map(option),
    /** Those that are sold for money. */
    plansPriced: (plans.data ?? []).filter((plan) => !plan.archived && plan.price > 0).map(option),
    plansAll: (plans.data ?? []).map(option),
    groupOf,
    /** How many devices a plan is for; 0 where it says nothing. */
    limitOf: (code: string) => plans.data?.find((plan) => plan.code === code)?.hwid_limit ?? 0,
    /** Whether a plan has a limit of traffic. */
    quotas: (plans.data ?? []).some((plan) => plan.quota_gb !== undefined),
    /** A place as the API wants it: with a group the node may be left to the service. */
    placed: ({ node, plan }: Place): { node?: string; plan: string } =>
      node === '' && groupOf(plan) ? { plan } : { node, plan },
  }
}
