/** Login, accounts, sessions, the second factor. */
import * as v from 'valibot'
import { rowId as id } from '#db/values.ts'
import { account, confirmation, passwordChange } from '#src/http/admin/admins.ts'
import { codeStep, credentials } from '#src/http/admin/login.ts'
import { enabling, ownPassword } from '#src/http/admin/two-factor.ts'
import {
  admin,
  confirmed,
  loginAnswer,
  me,
  ownAccount,
  recoveryCodes,
  recoveryCodesLeft,
  session,
  twoFactorSetup,
  twoFactorStatus,
} from '#src/http/schemas/account.ts'
import { ok } from '#src/http/schemas/fields.ts'
import { adminOperations, type JsonAnswer } from './operation.ts'

/** The cookie comes with it, save where a code must follow. */
const withCookie = <const S extends v.GenericSchema>(
  schema: S,
  always: boolean,
): JsonAnswer<S> => ({
  media: { 'application/json': schema },
  headers: {
    'Set-Cookie': {
      summary: 'The session',
      schema: v.pipe(v.string(), v.regex(/^panel_admin=/)),
      always,
    },
  },
})

export const accountOperations = adminOperations('Accounts', [
  {
    method: 'post',
    path: '/login',
    summary: 'Log in; with 2FA on, a code must follow',
    open: true,
    body: credentials,
    ok: withCookie(loginAnswer, false),
    refusals: [401, 429],
  },
  {
    method: 'post',
    path: '/login/totp',
    summary: 'Finish a login with a code of the authenticator app, or a recovery code',
    open: true,
    body: codeStep,
    ok: withCookie(ok, true),
    refusals: [401, 429],
  },
  { method: 'post', path: '/logout', summary: 'End this session', open: true, ok },
  { method: 'get', path: '/me', summary: 'Who is logged in', open: true, ok: me },
  { method: 'get', path: '/admins', summary: 'List the admins', ok: v.array(admin) },
  { method: 'post', path: '/admins', summary: 'Add an admin', body: account, ok: admin },
  {
    method: 'delete',
    path: '/admins/{admin_id}',
    summary: 'Remove an admin: not yourself, not the last one',
    params: { admin_id: id },
    ok,
    refusals: [400],
  },
  {
    method: 'post',
    path: '/password',
    summary: 'Change your own password; your other sessions end',
    body: passwordChange,
    ok,
    refusals: [429],
  },
  { method: 'get', path: '/account', summary: 'Your own account', ok: ownAccount },
  {
    method: 'post',
    path: '/reauth',
    summary: 'Confirm that it is you, by password or code: for ten minutes',
    body: v.pipe(
      confirmation,
      v.metadata({ oneOf: [{ required: ['password'] }, { required: ['code'] }] }),
    ),
    ok: confirmed,
    refusals: [429],
  },
  { method: 'get', path: '/sessions', summary: 'List your own sessions', ok: v.array(session) },
  { method: 'delete', path: '/sessions', summary: 'End all your sessions but this one', ok },
  {
    method: 'delete',
    path: '/sessions/{session_id}',
    summary: 'End one of your sessions',
    params: { session_id: id },
    ok,
  },
  {
    method: 'get',
    path: '/2fa/status',
    summary: 'Whether your login asks for a code',
    ok: twoFactorStatus,
  },
  {
    method: 'post',
    path: '/2fa/setup',
    summary: 'Make a secret for your authenticator app; nothing is stored yet',
    ok: twoFactorSetup,
  },
  {
    method: 'post',
    path: '/2fa/enable',
    summary: 'Store the secret once a code shows that the app has it',
    body: enabling,
    ok,
  },
  {
    method: 'get',
    path: '/2fa/recovery-codes',
    summary: 'How many recovery codes you have left',
    ok: recoveryCodesLeft,
  },
  {
    method: 'post',
    path: '/2fa/recovery-codes',
    summary: 'Make ten recovery codes, shown this once; the old ones end',
    body: ownPassword,
    ok: recoveryCodes,
    refusals: [429],
  },
  {
    method: 'post',
    path: '/2fa/disable',
    summary: 'Log in without a code again',
    body: ownPassword,
    ok,
    refusals: [429],
  },
])
