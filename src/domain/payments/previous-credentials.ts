/** Credentials of shops that were replaced, as the row PREVIOUS_CREDENTIALS keeps them for 30 days. */
import * as v from 'valibot'
import { PRESET_IDS, PROVIDER_IDS } from './providers.ts'

export const KEPT_DAYS = 30

export const previousShop = v.object({
  provider: v.picklist(PROVIDER_IDS),
  until: v.string(),
  shopId: v.string(),
  secret: v.string(),
  preset: v.optional(v.picklist(PRESET_IDS)),
  apiUrl: v.optional(v.string()),
})

export const previousCredentials = v.array(previousShop)
