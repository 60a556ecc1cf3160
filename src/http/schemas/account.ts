/** Admins, their sessions and their logins as the API shows them. */
import * as v from 'valibot'
import { rowId as id } from '#db/values.ts'
import type { accountView, adminView, auditView, sessionView } from '../views.ts'
import { describes, timestamp } from './fields.ts'

export const admin = describes<ReturnType<typeof adminView>>()(
  v.strictObject({
    id,
    username: v.string(),
    created_at: timestamp,
    last_login_at: v.nullable(timestamp),
    totp_enabled: v.boolean(),
  }),
)

export const session = describes<ReturnType<typeof sessionView>>()(
  v.strictObject({
    id,
    created_at: timestamp,
    last_seen_at: timestamp,
    ip: v.string(),
    user_agent: v.nullable(v.string()),
    current: v.boolean(),
  }),
)

/** With 2FA the session comes from the code step. */
export const loginAnswer = v.union([
  v.strictObject({ ok: v.literal(true) }),
  v.strictObject({ ok: v.literal(true), needs_totp: v.literal(true), pending_token: v.string() }),
])

export const me = v.strictObject({
  authenticated: v.boolean(),
  username: v.nullable(v.string()),
})

export const ownAccount = describes<ReturnType<typeof accountView>>()(
  v.strictObject({
    id,
    username: v.string(),
    role: v.literal('owner'),
    second_factor: v.boolean(),
    must_enrol: v.boolean(),
  }),
)

/** Until when the confirmation counts. */
export const confirmed = v.strictObject({ ok: v.literal(true), until: timestamp })

export const recoveryCodes = v.strictObject({
  codes: v.array(v.pipe(v.string(), v.regex(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/))),
})

export const recoveryCodesLeft = v.strictObject({ left: v.number() })

export const twoFactorStatus = v.strictObject({ enabled: v.boolean() })

export const twoFactorSetup = v.strictObject({
  secret: v.pipe(v.string(), v.regex(/^[A-Z2-7]{16,}$/)),
  uri: v.pipe(v.string(), v.regex(/^otpauth:\/\/totp\//)),
})

export const auditEntry = describes<ReturnType<typeof auditView>>()(
  v.strictObject({
    id,
    at: timestamp,
    admin: v.nullable(v.string()),
    ip: v.string(),
    action: v.string(),
    object: v.string(),
    detail: v.string(),
  }),
)
