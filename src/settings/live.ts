/**
 * The settings that apply live, in the order of their forms: all that there is to say of one is said here. Those of payment gateways
 * come to them (`tableOf`, table.ts).
 */
import * as v from 'valibot'
import { botName } from '#src/lib/bot-link.ts'
import { givenPreset, presetIn, ROUTING_PRESETS } from '#src/lib/routing-presets.ts'
import {
  addressText,
  httpAddress,
  integer,
  line,
  requiredLine,
  secretText,
} from '#src/lib/values.ts'
import { appCatalogue } from './app-catalogue.ts'
import { hidden, onOff, readAs, sameText, shownAs, textLike, whole } from './kinds.ts'
import { agentWordsIn, agentWordsText, givenAgentWords, ruleAddress } from './list-settings.ts'
import { OPTIONAL_EVENTS, optionalEventsIn } from './optional-events.ts'
import type { LiveSetting } from './setting.ts'

/** Keeps the names and schemas of a list of settings as types. */
export const liveSettings = <const L extends readonly LiveSetting[]>(list: L): L => list

/** The first 8 and the last 4 characters of a token of more than 14; `***` for others. */
const maskToken = (token: string): string =>
  token.length > 14 ? `${token.slice(0, 8)}...${token.slice(-4)}` : '***'

const masked = v.pipe(v.string(), v.minLength(3))

const count = integer(0, Number.MAX_SAFE_INTEGER)
const tgId = integer(1, Number.MAX_SAFE_INTEGER)

/** The token of a bot as requests bring it. */
export const botToken = secretText(256)

const receiptMode = v.picklist(['off', 'auto', 'on'], 'must be off, auto or on')

const receiptEmail = v.pipe(line(254), v.regex(/^([^\s@]+@[^\s@]+)?$/, 'must be an e-mail address'))

/** Telegram ids as an admin gives them. */
const givenTgIds = v.pipe(
  v.array(tgId, 'must be a list of Telegram ids'),
  v.maxLength(100, 'must have at most 100 ids'),
)

const givenEvents = v.array(
  v.picklist(OPTIONAL_EVENTS, 'must be an optional event'),
  'must be a list of optional events',
)

function isJsonArray(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

/** A line of the legal pages. */
const legal = <const N extends string>(name: N) => sameText(line(500), { form: 'legal', name })

const date = /^\d{2}\.\d{2}\.\d{4}$/

export const LIVE = liveSettings([
  {
    key: 'BOT_USERNAME',
    value: v.pipe(v.string(), v.regex(/^\w{1,64}$/)),
    ...shownAs({ form: 'bot', name: 'username' }, v.string(), botName),
    docs: 'name of the bot; the panel learns it with the token',
  },
  {
    key: 'BOT_TOKEN',
    value: botToken,
    secret: true,
    ...shownAs({ form: 'bot', name: 'token_masked' }, masked, maskToken),
    docs: 'token of the bot, from [@BotFather](https://t.me/BotFather)',
  },
  {
    key: 'BRAND_NAME',
    ...sameText(requiredLine(64), { form: 'brand', name: 'brand_name' }),
    fallback: 'Subpanel',
    docs: 'name on pages and in lists',
  },
  {
    key: 'BRAND_HUE',
    ...whole([0, 360], {
      place: { form: 'brand', name: 'brand_hue' },
      shown: count,
      need: 'a hue from 0 to 360',
    }),
    fallback: '255',
    docs: 'colour of pages: a hue, 0 to 360',
  },
  {
    key: 'PAYMENTS_ENABLED',
    ...onOff({ form: 'plans', name: 'payments_enabled' }),
    docsDefault: 'off',
    docs: 'whether new payments are taken',
  },
  {
    key: 'GUEST_SALES',
    ...onOff({ form: 'sales', name: 'guest_sales' }),
    docsDefault: 'off',
    docs: 'whether people buy on the site without a link or a bot: they get a link of their own before they pay',
  },
  {
    key: 'HWID_LIMIT_ENABLED',
    ...onOff({ form: 'hwid', name: 'enabled' }),
    docsDefault: 'off',
    docs: 'whether devices are limited',
  },
  {
    key: 'HWID_FALLBACK_LIMIT',
    ...whole([1, 1000], {
      place: { form: 'hwid', name: 'fallback_limit' },
      shown: count,
      pattern: /^[1-9]\d{0,3}$/,
    }),
    fallback: '5',
    docs: 'how many devices users without a number of their own may have',
  },
  {
    key: 'WEBHOOK_URL',
    start: httpAddress,
    value: addressText(['http:', 'https:']),
    field: { form: 'webhook', name: 'url', given: line(2048), shown: v.string(), view: String },
    docs: 'where events are sent',
  },
  {
    key: 'WEBHOOK_SECRET',
    ...hidden(256, { form: 'webhook', name: 'has_secret' }),
    docsDefault: 'generated',
    docs: 'the key they are signed with',
  },
  {
    key: 'WEBHOOK_EVENTS',
    start: textLike(/^[a-z_.]+([\s,]+[a-z_.]+)*$/, 'a list of events'),
    value: readAs((text) => text.split(' ').filter(Boolean), givenEvents),
    field: {
      form: 'webhook',
      name: 'events',
      given: givenEvents,
      shown: v.exactOptional(v.array(v.picklist(OPTIONAL_EVENTS))),
      view(text: string) {
        const ticked = optionalEventsIn(text)
        return ticked.length > 0 ? ticked : undefined
      },
    },
    docs: 'which [optional events](api.md#optional-events) are sent too',
  },
  {
    key: 'LEGAL_NAME',
    ...legal('LEGAL_NAME'),
    docs: 'the seller on the [legal pages](#legal-pages)',
  },
  {
    key: 'LEGAL_INN',
    ...legal('LEGAL_INN'),
    docs: "the seller's INN, the number at the tax authority",
  },
  {
    key: 'REFUND_HOURS',
    ...legal('REFUND_HOURS'),
    docs: 'within how many hours money is given back',
  },
  {
    key: 'SUPPORT_CONTACT',
    ...legal('SUPPORT_CONTACT'),
    docs: 'where customers ask for help: an account (`@name`) or an address',
  },
  { key: 'SUPPORT_EMAIL', ...legal('SUPPORT_EMAIL'), docs: "the support's mail" },
  {
    key: 'OFFER_EFFECTIVE_DATE',
    start: textLike(date, 'a date as dd.mm.yyyy'),
    value: v.pipe(v.string(), v.regex(date)),
    ...shownAs(
      { form: 'legal', name: 'OFFER_EFFECTIVE_DATE' },
      v.pipe(v.string(), v.regex(/^(\d{2}\.\d{2}\.\d{4})?$/)),
      String,
    ),
    docs: 'since when the offer counts, `dd.mm.yyyy`; set by the first save of legal settings',
  },
  {
    key: 'RECEIPT_MODE',
    start: textLike(/^(off|auto|on)$/, 'off, auto or on'),
    value: receiptMode,
    field: {
      form: 'receipts',
      name: 'mode',
      given: receiptMode,
      shown: v.pipe(v.string(), v.metadata({ enum: ['off', 'auto', 'on'] })),
      view: String,
      toRow: String,
    },
    fallback: 'off',
    docs: 'fiscal receipts: `off`, `auto` or `on`',
  },
  {
    key: 'RECEIPT_EMAIL',
    ...sameText(receiptEmail, { form: 'receipts', name: 'email' }),
    docs: 'the e-mail that receipts go to',
  },
  {
    key: 'VAT_CODE',
    // Codes of the tax authority that providers take (yookassa.ru/developers/54fz/parameters-values).
    ...whole([1, 12], {
      place: { form: 'receipts', name: 'vat_code' },
      shown: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(12)),
    }),
    fallback: '1',
    docs: 'VAT code of receipts, 1 to 12',
  },
  {
    key: 'ADMIN_TG_IDS',
    start: textLike(/^\d{1,16}([\s,]+\d{1,16})*$/, 'a list of Telegram ids'),
    value: v.pipe(v.string(), v.regex(/^(?:\d{1,16}(?: \d{1,16}){0,99})?$/)),
    field: {
      form: 'alerts',
      name: 'admin_tg_ids',
      given: givenTgIds,
      shown: v.array(tgId),
      view: (text: string) => (text.match(/\d+/g) ?? []).map(Number),
    },
    docs: 'Telegram ids of those whom the bot alerts',
  },
  {
    key: 'REQUIRE_2FA',
    ...onOff({ form: 'security', name: 'require_2fa' }),
    docsDefault: 'off',
    docs: 'on: all admins need two-factor login',
  },
  {
    key: 'APP_CATALOGUE',
    start: v.pipe(v.string(), v.check(isJsonArray, 'must be a list of apps as JSON')),
    value: readAs(JSON.parse, appCatalogue),
    docs: 'the client apps as a JSON list, in place of `templates/apps.json`',
  },
  {
    key: 'ROUTING_PRESET',
    start: textLike(/^(off|ru|ir|cn)$/, 'off, ru, ir or cn'),
    value: givenPreset,
    field: {
      form: 'lists',
      name: 'routing_preset',
      given: givenPreset,
      shown: v.pipe(v.string(), v.metadata({ enum: [...ROUTING_PRESETS] })),
      view: presetIn,
      toRow: String,
    },
    fallback: 'off',
    docs: 'whose names and addresses [lists leave direct](lists.md#routing-presets): `off`, `ru`, `ir` or `cn`',
  },
  {
    key: 'ROUTING_ADS',
    ...onOff({ form: 'lists', name: 'routing_ads' }),
    docsDefault: 'off',
    docs: 'on: such lists block advertisements',
  },
  {
    key: 'RULESET_BASE_URL',
    start: ruleAddress,
    ...sameText(ruleAddress, { form: 'lists', name: 'ruleset_base_url' }),
    docsDefault: '`/rules/` of SUB_DOMAIN',
    docs: 'where sing-box gets the rule files of a preset from',
  },
  {
    key: 'XRAY_JSON_AGENTS',
    start: agentWordsText,
    value: readAs(agentWordsIn, givenAgentWords),
    field: {
      form: 'lists',
      name: 'xray_json_agents',
      given: givenAgentWords,
      shown: v.array(v.string()),
      view: agentWordsIn,
      toRow: (words: string[]) => agentWordsIn(words.join(' ')).join(' '),
    },
    docs: 'words of the User-Agents of apps that get [Xray JSON](lists.md#xray-json) in place of links, as `happ v2rayng`',
  },
  {
    key: 'NODE_CHANGE_HOURS',
    ...whole([0, 8760], { place: { form: 'lists', name: 'node_change_hours' }, shown: count }),
    fallback: '24',
    docs: 'how many hours lie between two changes of server that a customer makes for a subscription; 0: they make none',
  },
])

/** The name of a live setting that is no gateway's. */
export type LiveKey = (typeof LIVE)[number]['key']
