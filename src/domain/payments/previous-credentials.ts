/** Credentials of shops that were replaced, as the row PREVIOUS_CREDENTIALS keeps them for 30 days. */
import * as v from 'valibot'

export const KEPT_DAYS = 30

export const previousShop = v.object({
  provider: v.string(),
  until: v.string(),
  shopId: v.string(),
  secret: v.string(),
  preset: v.optional(v.string()),
  apiUrl: v.optional(v.string()),
})

export const previousCredentials = v.array(previousShop)
