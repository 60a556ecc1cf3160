/** Where nobody listens, so that asking is refused at once. */
import { GATEWAYS } from '#src/integrations/payments/index.ts'

export const NOWHERE = 'http://127.0.0.1:9'

/** The APIs of all gateways, and so Telegram's: a test that asks one brings its fake. */
export const APIS_NOWHERE: Record<string, string> = Object.fromEntries(
  GATEWAYS.flatMap(({ apiUrl }) => (apiUrl ? [[apiUrl.key, NOWHERE]] : [])),
)
