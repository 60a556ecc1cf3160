/** Outbound events that are written only where they are ticked (WEBHOOK_EVENTS), in the order of the panel. */
export const OPTIONAL_EVENTS = [
  'login.new_address',
  'admin.added',
  'admin.removed',
  'backup.downloaded',
  'backup.restored',
  'subscription.limited',
  'subscription.traffic_reset',
  'subscription.disabled',
  'subscription.enabled',
] as const
export type OptionalEvent = (typeof OPTIONAL_EVENTS)[number]

/** Those that a text of WEBHOOK_EVENTS names. */
export function optionalEventsIn(text: string): OptionalEvent[] {
  const named = text.split(/[\s,]+/)
  return OPTIONAL_EVENTS.filter((event) => named.includes(event))
}
