/** What all connection lists say beside their entries, as an admin sets it. */
import * as v from 'valibot'
import { saveListSettings } from '#src/domain/lists/rule-watch.ts'
import { missingFiles } from '#src/domain/lists/rules.ts'
import { readSettings } from '#src/domain/settings.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import { requireConfirmed } from '../auth.ts'
import type { Http } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { formOf } from '../settings-form.ts'

export function listSettingsOperations(own: readonly LiveSetting[]) {
  const lists = formOf(own, 'lists')
  /** `missing_rules`: rule files that lists need and that can't be had, so that these lists are without their preset. */
  const shown = v.strictObject({
    ...lists.shown.entries,
    missing_rules: v.exactOptional(v.array(v.string())),
  })
  const view = (s: Http) => {
    const settings = readSettings(s)
    const missing = missingFiles(s, settings)
    return { ...lists.view(settings), ...(missing.length > 0 && { missing_rules: missing }) }
  }
  return adminOperations('Settings', [
    operation(
      {
        method: 'get',
        path: '/settings/lists',
        scope: 'settings:read',
        summary: 'What connection lists say beside their entries',
        ok: shown,
      },
      ({ s }) => view(s),
    ),
    operation(
      {
        method: 'post',
        path: '/settings/lists',
        scope: 'settings:write',
        summary: 'Change what connection lists say beside their entries',
        body: v.object(lists.given),
        changes: true,
        ok: shown,
      },
      async ({ s, c, actor, body }) => {
        const rows = lists.rowsOf(await body())
        // Whose files they are decides what apps send past the servers.
        const { RULESET_BASE_URL: address } = rows
        const isElsewhere =
          address !== undefined && address !== readSettings(s).text('RULESET_BASE_URL')
        if (isElsewhere) requireConfirmed(c)
        await saveListSettings(s, actor, rows)
        return view(s)
      },
    ),
  ])
}
