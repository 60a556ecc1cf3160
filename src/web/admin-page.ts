/** The plain panel: a shell whose script talks to /admin/api. */
import { adminStringsOf } from './admin-strings.ts'
import { adminAssetUrl } from './assets.ts'
import { type PageBase, page } from './layout.ts'
import { html } from './markup.ts'

export interface AdminPageInput extends PageBase {
  /** `/{ADMIN_PATH}`, where http serves `adminAssets`. */
  basePath: string
  /** What a user's token is appended to: `https://{SUB_DOMAIN}/sub/`. */
  subUrlBase: string
  /** IANA zone that dates are shown in. */
  timezone: string
}

/** Answered with `no-cache, must-revalidate`; it shows nothing before login. */
export function adminPage(input: AdminPageInput): string {
  const t = adminStringsOf(input.lang)
  const body = html`<div id="panel" class="stack" data-texts="${JSON.stringify(t.script)}" data-sub-url-base="${input.subUrlBase}" data-timezone="${input.timezone}">
<h1>${t.title}</h1><noscript><p class="note">${t.noScript}</p></noscript>
<p id="message" class="note" role="alert" hidden></p>
<section id="login" class="card" aria-label="${t.login}" hidden>
<form id="password-form" class="stack"><label class="field">${t.username}<input name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required></label><label class="field">${t.password}<input name="password" type="password" autocomplete="current-password" required></label><button class="btn pri wide">${t.login}</button></form>
<form id="code-form" class="stack" hidden><label class="field">${t.code}<input name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{6}" maxlength="6" required></label><button class="btn pri wide">${t.confirm}</button><button class="btn wide" type="button" id="code-back">${t.back}</button></form></section>
<div id="content" class="stack" hidden>
<div class="row"><strong id="admin-name"></strong><button class="btn" type="button" id="logout">${t.logout}</button></div>
<div class="grid"><section class="card stack"><h2>${t.grant}</h2><form id="grant-form" class="stack"><label class="field">${t.tgId}<input name="tg_id" inputmode="numeric" pattern="[0-9]+" required></label><label class="field">${t.node}<select name="node" required></select></label><label class="field">${t.plan}<select name="plan" required></select></label><button class="btn pri wide">${t.grantButton}</button></form></section>
<section class="card stack"><h2>${t.user}</h2><form id="user-form" class="row end"><label class="field">${t.tgId}<input name="tg_id" inputmode="numeric" pattern="[0-9]+" required></label><button class="btn">${t.show}</button></form><div id="user" class="stack" hidden></div></section></div>
<section class="card stack"><h2>${t.nodes}</h2><ul id="nodes" class="rows"></ul><div class="row"><button class="btn" type="button" id="refresh">${t.refresh}</button><button class="btn" type="button" id="sync">${t.sync}</button><button class="btn bad" type="button" id="sync-force" hidden>${t.syncForce}</button></div></section>
</div></div>`
  return page({
    ...input,
    title: t.title,
    body,
    scripts: [adminAssetUrl(input.basePath, 'admin.js')],
  })
}
