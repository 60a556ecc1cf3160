/** The filters of a listing by node and plan. */
import { FilterSelect } from '#src/admin-ui/kit/filter.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { useChoices } from './choices.ts'
import { access } from './texts.ts'

export function PlaceFilters({
  filters,
  change,
}: {
  filters: { node: string; plan: string }
  change: (filters: { node: string } | { plan: string }) => void
}) {
  const { nodesAll, plansAll } = useChoices()
  return (
    <>
      <FilterSelect
        label={common().node}
        all={access().allNodes}
        value={filters.node}
        options={nodesAll}
        onValue={(node) => change({ node })}
      />
      <FilterSelect
        label={common().plan}
        all={access().allPlans}
        value={filters.plan}
        options={plansAll}
        onValue={(plan) => change({ plan })}
      />
    </>
  )
}
