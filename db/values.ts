/**
 * What columns hold, each declared once: what requests may write, and what a row that comes from elsewhere must be (rows.ts). A
 * value is stored as its schema gives it.
 */
import * as v from 'valibot'
import { normalName } from '#src/lib/account-name.ts'
import { addressOf, hostNameOf } from '#src/lib/host-name.ts'
import { isPortRange } from '#src/lib/port-range.ts'
import { TOTP_SECRET } from '#src/lib/totp.ts'
import { UUID } from '#src/lib/uuid.ts'
import { asRead, integer, line, plainText, requiredLine, requiredText } from '#src/lib/values.ts'
import { QUOTA_PERIODS } from './quota-periods.ts'

const matching = (pattern: RegExp, need: string) =>
  v.pipe(v.string('must be a string'), v.regex(pattern, need))

/** The same of what no request gives: there is nobody to be told. */
const formed = (pattern: RegExp) => v.pipe(v.string(), v.regex(pattern))

/** What counts up from 0: bytes. */
export const count = integer(0, Number.MAX_SAFE_INTEGER)

/**
 * Far beyond what counting by one reaches, and far below the end of exact numbers (2^53): there SQLite gives the next row a number
 * that nothing here can name again.
 */
const MOST_STEPS = 2 ** 48

/** What a restore brings such numbers down to, so that counting goes on from there and later backups can be restored too. */
export const ROOM_FROM = 2 ** 47

/** SQLite's numbers of rows. */
export const rowId = integer(1, MOST_STEPS)

/** Where a row stands in the order in which rows were written; whatever it is, a copy gives another one. */
export const seq = v.number()

/** What goes up by one: tries, changes. */
export const steps = integer(0, MOST_STEPS)

/** A place in an order; the next one is a step further. */
export const place = integer(0, MOST_STEPS)

export const day = formed(/^\d{4}-\d{2}-\d{2}$/)

/** Users */

export const TG_ID_FAULT = `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`

/** The number of a customer in requests: a Telegram id, or below 0 one of our own. */
export const tgId = v.pipe(
  v.number(TG_ID_FAULT),
  v.safeInteger(TG_ID_FAULT),
  v.notValue(0, TG_ID_FAULT),
)

/** One that a row may have: below 0 we count up. */
export const storedTgId = v.pipe(tgId, v.minValue(-MOST_STEPS))

export const telegramId = integer(1, Number.MAX_SAFE_INTEGER)

/** As Telegram says. */
export const username = plainText(256)

/** In the one form that Unicode has for what looks the same, which may be longer: so it is found however it was typed. */
const requiredName = (max: number) =>
  v.pipe(
    requiredLine(max),
    v.normalize('NFC'),
    v.maxLength(max, `must have at most ${max} characters`),
  )

export const customerName = requiredName(64)

/** In lower case, which may be longer; not verified. */
export const email = v.pipe(
  v.string('must be a string'),
  v.trim(),
  v.maxLength(254, 'must have at most 254 characters'),
  v.regex(/^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u, 'must be an e-mail address'),
  v.transform((text) => text.toLowerCase().normalize('NFC')),
  v.maxLength(254, 'must have at most 254 characters'),
)

export const tag = requiredName(24)
export const MAX_TAGS = 10
export const tags = v.pipe(
  v.array(tag, 'must be a list of tags'),
  v.maxLength(MAX_TAGS, `must have at most ${MAX_TAGS} tags`),
  v.check((list) => new Set(list).size === list.length, 'must have each tag once'),
  v.metadata({ uniqueItems: true }),
)

/** How a link that came along from another panel answers. */
export const linkFormat = formed(/^[a-z0-9-]{1,32}$/)

/** A secret of ours that stands in addresses. */
export const token = formed(/^[\w-]{1,128}$/)

export const MAX_HWID_LIMIT = 1_000_000
export const hwidLimit = integer(0, MAX_HWID_LIMIT)

/** A language as Telegram tags it. */
export const language = formed(/^[A-Za-z0-9-]{1,35}$/)

const NOTE = /^(?:[^\p{Cc}\p{Cs}]|[\n\r\t])*$/u
export const MAX_NOTE = 2000
export const note = v.pipe(
  plainText(MAX_NOTE),
  v.regex(NOTE, 'must have no control characters but line breaks and tabs'),
)

export const HWID = /^[a-zA-Z0-9=-]{10,64}$/
export const hwid = formed(HWID)

/** Subscriptions */

export const uuid = formed(UUID)

/** Ids of payments and events: UUIDs, as a rule. */
export const recordId = formed(/^[\w-]{1,64}$/)

export const giftCode = formed(/^[A-Z2-7]{16}$/)

/** Plans */

const CODE = matching(/^[a-zA-Z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ or -')

export const planCode = v.pipe(
  CODE,
  v.regex(
    /^(?!__proto__$|constructor$|prototype$)/,
    'is a name that JSON objects keep for themselves',
  ),
)
export const planLabel = requiredLine(128)
export const MAX_DAYS = 3650
/** How long what is given lasts; 0: without end. */
export const termDays = integer(0, MAX_DAYS)
/** The same of a plan, which has a price as a rule: one with a price ends. */
export const planDays = integer(0, MAX_DAYS, 1)
/** From a first use on. */
export const startSeconds = integer(1, MAX_DAYS * 86_400)
export const MAX_PRICE = 1_000_000_000
export const price = integer(0, MAX_PRICE)
export const priceStars = integer(1, 1_000_000)
export const MAX_SORT_ORDER = 1_000_000
export const sortOrder = integer(0, MAX_SORT_ORDER)

/** Nodes */

export const nodeCode = CODE
export const nodeLabel = requiredText(128)
/** GB of 1024³ bytes. */
export const quotaGb = integer(1, 1_000_000)
export const extraGb = integer(0, 1_000_000)
/** Of a pack: what one sale adds. */
export const packGb = quotaGb
export const quotaPeriod = v.picklist(QUOTA_PERIODS, `must be one of ${QUOTA_PERIODS.join(', ')}`)
/** Of a plan: nobody would buy one without a device. */
export const planHwidLimit = integer(1, MAX_HWID_LIMIT)
/** Hundredths. */
export const trafficRatio = integer(0, 1000)
export const groupCode = planCode
export const groupLabel = requiredLine(128)
export const port = integer(1, 65_535)

const PORT_RANGE_FAULT = 'must be a first and a last port, as 20000-30000'

export const portRange = v.pipe(
  v.string('must be a string'),
  v.check(isPortRange, PORT_RANGE_FAULT),
)

/** Parts of a link: printable, without spaces. */
export const linkPart = v.pipe(
  plainText(255),
  v.trim(),
  v.regex(/^[^\s\p{Cc}]*$/u, 'must not hold spaces or control characters'),
)
export const address = v.pipe(linkPart, v.minLength(1, 'must not be empty'))
export const flow = matching(/^[A-Za-z0-9_-]{0,64}$/, 'may hold letters, digits, _ and -')

/** What Xray takes for a client id: a UUID, or 1 to 30 characters that it makes one of. */
export const clientId = v.pipe(
  v.string('must be a string'),
  v.regex(
    /^(?:[\x21-\x7e]{1,30}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$/,
    'must be a UUID, or at most 30 characters without spaces',
  ),
  v.transform((id) => (id.length === 36 ? id.toLowerCase() : id)),
)

/** A private key of REALITY (X25519, base64url); empty on nodes that others run. */
export const realityKey = formed(/^(?:[A-Za-z0-9_-]{43})?$/)

/** A password that we made up for a node's own protocols. */
export const nodePassword = formed(/^[\w-]{1,128}$/)

/** A certificate as certificates.ts writes it: one block, nothing before or after it. */
export const certificate = v.pipe(
  plainText(16_384),
  v.regex(/^-----BEGIN CERTIFICATE-----\n(?:[A-Za-z0-9+/=]{1,64}\n)+-----END CERTIFICATE-----$/),
)

const TRANSPORT_TYPES = ['ws', 'xhttp', 'grpc', 'hysteria2'] as const

/** All ways into a node: REALITY is always there. */
export const HOST_TRANSPORTS = ['reality', ...TRANSPORT_TYPES] as const

export const transports = v.pipe(
  v.array(
    v.strictObject({
      type: v.picklist(TRANSPORT_TYPES),
      port,
      path: v.exactOptional(formed(/^\/[\w./~-]{0,64}$/)),
      service_name: v.exactOptional(formed(/^\w[\w.-]{0,63}$/)),
      cert: v.exactOptional(certificate),
    }),
  ),
  v.maxLength(10),
)

/** Those that a row may have: XHTTP and gRPC both come as HTTP/2, which REALITY's port hands on to one of them. */
export const storedTransports = v.pipe(
  transports,
  v.check((list) => !['xhttp', 'grpc'].every((type) => list.some((one) => one.type === type))),
)

/** Hosts of nodes */

const HOST_RULE = 'must be a host name or an IP address'

export const hostAddress = asRead(addressOf, HOST_RULE)

/** What a request asks for; empty: another one counts. */
export const hostHeader = asRead((text) => (text === '' ? text : addressOf(text)), HOST_RULE)

export const hostSni = asRead(
  (text) => (text === '' ? text : hostNameOf(text)),
  'must be a host name',
)

export const hostLabel = line(128)

/** What an operator may write lists of. */
export const TEMPLATE_FORMATS = ['mihomo', 'singbox'] as const
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number]
/** A thousand lines, and no more than a body of the API has room for. */
export const MAX_TEMPLATE = 32_768
export const templateText = v.pipe(
  plainText(MAX_TEMPLATE),
  v.regex(NOTE, 'must have no control characters but line breaks and tabs'),
)
export const templateBody = v.pipe(templateText, v.minLength(1, 'must not be empty'))

/** As RFC 3986 has paths, maybe with a query, by which clients are told of early data; empty: another one counts. */
export const hostPath = v.pipe(
  v.string('must be a string'),
  v.trim(),
  v.maxLength(255, 'must have at most 255 characters'),
  v.regex(
    /^(?:\/[\w.~!$&()*+,;=:@%/?-]*)?$/,
    'must begin with / and have letters, digits and signs of addresses alone',
  ),
)

/** Those that all client cores know; what Xray refuses is not among them. */
export const FINGERPRINTS = ['chrome', 'firefox', 'safari', 'ios', 'edge', 'random'] as const

export const fingerprint = v.picklist(
  ['', ...FINGERPRINTS],
  `must be one of ${FINGERPRINTS.join(', ')}`,
)

/** Names of list formats, each once. */
export const hostFormats = v.pipe(
  v.array(linkFormat),
  v.maxLength(20),
  v.check((names) => new Set(names).size === names.length),
)

/** SSH */

export const sshUser = formed(/^[a-z_][a-z0-9_-]{0,31}$/)

const KEY_TYPE = '[a-z0-9@.-]{0,64}'
/** A server chooses what it presents; it is cut by the 35,000 bytes of an SSH packet (RFC 4253, section 6.1). */
const KEY = '[A-Za-z0-9+/]{0,50000}={0,2}'

export const hostKeyType = formed(new RegExp(`^${KEY_TYPE}$`))
export const hostKeyData = formed(new RegExp(`^${KEY}$`))

/** `type base64` in lines, as lib/host-key.ts writes them. */
export const hostKeys = formed(new RegExp(`^${KEY_TYPE} ${KEY}(?:\n${KEY_TYPE} ${KEY}){0,19}$`))

export const managementPublicKey = formed(
  /^ssh-ed25519 [A-Za-z0-9+/]{1,200}={0,2}(?: [\w@.-]{1,64})?\n?$/,
)
export const managementPrivateKey = formed(
  /^-----BEGIN OPENSSH PRIVATE KEY-----\n(?:[A-Za-z0-9+/=]{1,200}\n)+-----END OPENSSH PRIVATE KEY-----\n?$/,
)

/** Payments */

/** No longer than the bot's buttons can carry (bot/callback-data.ts). */
export const providerId = formed(/^[a-z][a-z0-9_]{0,29}$/)

export const currency = formed(/^[A-Z]{3}$/)

/** What a provider calls a payment: as it says. What becomes part of an address is checked there (gateway-call.ts). */
export const externalId = formed(/^[\x21-\x7e]{0,1024}$/)

/** An amount as its provider states it, which may have no fraction: Stars. */
export const statedAmount = formed(/^\d{1,16}(?:\.\d{1,18})?$/)

/** Admins */

/** Control, format and line characters would let a name pass for another one, in the log as well. */
const SEEN = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u
/** Nor may what nobody sees in it: the Braille blank, characters that are not drawn, a mark on whatever stands before the name. */
const DRAWN = /^(?!\p{M})[^\p{Default_Ignorable_Code_Point}\u2800]*$/u
export const adminName = v.pipe(
  plainText(256),
  v.transform(normalName),
  v.trim(),
  v.maxLength(256, 'must have at most 256 characters'),
  v.regex(/^[\s\S]{3,}$/u, 'must have at least 3 characters'),
  v.regex(SEEN, 'must have no control characters'),
  v.regex(DRAWN, 'must have no invisible characters'),
)

/**
 * A name as it may be stored: there was a time when it was given its one form (NFKC) after it had been checked, which can make 18
 * characters of one, put a space before it or make one of several.
 */
export const storedAdminName = v.pipe(plainText(18 * 256), v.minLength(1), v.regex(SEEN))
/** As lib/crypto.ts writes it: no other number of iterations, which would be an hour's work at each login. */
export const passwordHash = formed(/^pbkdf2-sha256\$200000\$[\w-]{22}\$[\w-]{43}$/)
export const totpSecret = formed(TOTP_SECRET)
/** Also a part of env files, and what nodes are told. */
export const instanceId = formed(/^[A-Za-z0-9-]{1,64}$/)
/** As lib/passphrase-key.ts writes it. */
export const passphraseKey = formed(/^scrypt(?:\$\d{1,9}){3}(?:\$[\w-]{1,128}){2}$/)
/** SHA-256 in hex. */
export const digest = formed(/^[0-9a-f]{64}$/)
