/** Whether what is on sale can be paid for. */
import { api, ok } from './api.ts'
import { useQuery } from './query.ts'
import { unpayable } from './states.tsx'

/** The settings of sales: whether anything is sold at all, and for how much. */
export const useSales = () =>
  useQuery('plan-settings', () => ok(api.payments['plan-settings'].$get()))

/** The payment methods, as they are set up. */
export const useProviders = () =>
  useQuery('payment providers', () => ok(api.payments.providers.$get()))

/** Those that a buyer can pay with; undefined until it is known. */
export const useWorkingProviders = () =>
  useProviders().data?.filter(({ enabled, configured }) => enabled && configured)

/** What to say while sales are on and no payment method is both on and set up, so that nobody can buy; else null. */
export function useUnpayable(): string | null {
  const sales = useSales().data
  return useWorkingProviders()?.length === 0 && sales?.payments_enabled ? unpayable() : null
}
