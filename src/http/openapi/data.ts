/** Statistics, audit log, backup and restore, QR codes, and this description. */
import * as v from 'valibot'
import { oneBackup } from '#src/http/admin/backup.ts'
import { eventsQuery } from '#src/http/admin/events.ts'
import { qrText } from '#src/http/admin/qr.ts'
import { auditQuery, seriesQuery } from '#src/http/admin/stats.ts'
import { auditEntry } from '#src/http/schemas/account.ts'
import { attempt, event } from '#src/http/schemas/event.ts'
import { qrCode } from '#src/http/schemas/qr.ts'
import { activeStats, restored, stats, statsSeries } from '#src/http/schemas/stats.ts'
import { adminOperations, download, paged } from './operation.ts'

export const dataOperations = adminOperations('Data', [
  { method: 'get', path: '/stats', summary: 'The counts of this moment', ok: stats },
  {
    method: 'get',
    path: '/stats/series',
    summary: 'New users, payments and traffic day by day',
    query: seriesQuery,
    ok: statsSeries,
  },
  {
    method: 'get',
    path: '/stats/active',
    summary: 'Active subscriptions by plan and node, and when they end',
    ok: activeStats,
  },
  {
    method: 'get',
    path: '/audit',
    summary: 'Who did what',
    query: auditQuery,
    ok: paged(auditEntry),
  },
  {
    method: 'get',
    path: '/events',
    summary: 'What was sent to the webhook, and what became of it',
    query: eventsQuery,
    ok: paged(event),
  },
  {
    method: 'post',
    path: '/events/{id}/resend',
    summary: 'Send an event again now, with its id',
    params: { id: v.string() },
    ok: attempt,
    refusals: [400],
  },
  {
    method: 'get',
    path: '/backup',
    summary: 'Download a backup: it opens every node, keep it safe',
    ok: download('application/gzip', 'application/octet-stream'),
    refusals: [403],
  },
  {
    method: 'post',
    path: '/backup',
    summary: 'Download a backup that is encrypted to this passphrase',
    body: oneBackup,
    ok: download('application/octet-stream'),
  },
  {
    method: 'post',
    path: '/backup/restore',
    summary: 'Put a backup in place of the present data; ends all sessions',
    body: 'archive',
    ok: restored,
  },
  {
    method: 'post',
    path: '/qr',
    summary: 'The QR code of a text, to be drawn; nothing is stored',
    body: qrText,
    ok: qrCode,
  },
  {
    method: 'get',
    path: '/openapi.json',
    summary: 'This description',
    ok: v.looseObject({ openapi: v.literal('3.1.0'), paths: v.looseObject({}) }),
  },
])
