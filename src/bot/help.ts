/** Help: where to ask, what to read, which app to take, which language to speak. */
import { InlineKeyboard } from 'grammy/web'
import { chooseLang } from '#src/domain/customers/contacts.ts'
import { deviceLimit } from '#src/domain/customers/devices.ts'
import { appsOf, fittingApps, storeLabel } from '#src/domain/lists/apps.ts'
import { SYSTEMS } from '#src/settings/app-catalogue.ts'
import { stringsOf } from '#src/web/strings.ts'
import { tapData } from './callback-data.ts'
import { legalUrl, showStale, supportLines } from './menu.ts'
import { type BotRequest, inLang, show, type Work } from './request.ts'
import { BOT_LANGS, textsOf } from './texts.ts'

async function showHelp(v: BotRequest): Promise<void> {
  const { t } = v
  const keyboard = new InlineKeyboard()
  for (const [at, system] of SYSTEMS.entries()) {
    keyboard.text(stringsOf(v.lang).systems[system], tapData('help', system))
    if (at % 2 === 1) keyboard.row()
  }
  for (const lang of BOT_LANGS) {
    const mark = lang === v.lang ? '• ' : ''
    keyboard.text(mark + textsOf(lang).language, tapData('lang', lang))
  }
  keyboard.row().text(t.back, tapData('menu'))
  const documents = t.documents(legalUrl(v, 'offer'), legalUrl(v, 'privacy'))
  const text = [t.helpText, supportLines(v), documents, t.appsAsk].filter(Boolean)
  await show(v, text.join('\n\n'), keyboard)
}

async function showApps(v: BotRequest, system: (typeof SYSTEMS)[number]): Promise<void> {
  const strings = stringsOf(v.lang)
  const keyboard = new InlineKeyboard()
  const { apps: known, settings } = v.memory.catalogue()
  const { apps, unfit } = fittingApps(appsOf(known, system), deviceLimit(v.user, settings) !== null)
  for (const app of apps) {
    for (const store of app.stores[system] ?? []) {
      keyboard.url(`${app.name} · ${storeLabel(store, v.lang)}`, store.url).row()
    }
  }
  keyboard.text(v.t.my, tapData('s')).text(v.t.back, tapData('help'))
  const text = v.t.apps(strings.systems[system])
  await show(v, unfit ? `${text}\n\n${strings.noneFits}` : text, keyboard)
}

/** The help, or the apps of a system. */
export const help: Work = async (v, [wanted]) => {
  if (wanted === undefined) return showHelp(v)
  const system = SYSTEMS.find((known) => known === wanted)
  return system ? showApps(v, system) : showStale(v)
}

/** Speaks another language from now on. */
export const chooseLanguage: Work = async (v, [wanted]) => {
  const lang = BOT_LANGS.find((known) => known === wanted)
  if (!lang) return showStale(v)
  await chooseLang(v.s, v.user.tgId, lang)
  await showHelp(inLang(v, lang))
}
