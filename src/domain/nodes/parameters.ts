/**
 * Lines of parameters as the node program reads them (docs/node-program.md): a key and its value. Every value is held against the rule
 * of its key here, so that whatever a row holds, a line is that line and nothing more.
 */
import { utf8 } from '#src/lib/encoding.ts'
import { isPortRange } from '#src/lib/port-range.ts'
import { isTarget } from '#src/lib/target.ts'

const NAME = /^[A-Za-z0-9._-]{1,64}$/

const isPort = (text: string) => /^[1-9][0-9]{0,4}$/.test(text) && Number(text) <= 65_535
const isName = (text: string) => NAME.test(text)
const oneOf = (words: string) => (text: string) => words.split(' ').includes(text)
/** Of at most so many bytes, without control characters and the two that YAML does not allow. */
const isText = (text: string, bytes: number) =>
  /^[^\p{Cc}\uFFFE\uFFFF]+$/u.test(text) && utf8(text).length <= bytes

/** Texts are percent-encoded; all other values stand as they are. */
const TEXTS = new Set(['path', 'service-name', 'obfs'])

const RULES = {
  inbound: isName,
  protocol: oneOf('vless'),
  port: isPort,
  socket: isName,
  group: isName,
  flow: oneOf('xtls-rprx-vision'),
  network: oneOf('raw ws xhttp grpc'),
  path: (text: string) => text.startsWith('/') && isText(text, 1024),
  'service-name': (text: string) => isText(text, 1024),
  security: oneOf('none reality tls'),
  target: isTarget,
  'server-name': (text: string) => /^[A-Za-z0-9._-]{1,253}$/.test(text),
  'private-key': (text: string) => /^[A-Za-z0-9_-]{43}$/.test(text),
  'short-id': (text: string) => /^(?:[0-9a-f]{2}){0,8}$/i.test(text),
  certificate: oneOf('node'),
  alpn: oneOf('http/1.1'),
  'min-version': oneOf('1.2'),
  fallback: isName,
  // With less Hysteria does not start.
  obfs: (text: string) => isText(text, 256) && utf8(text).length >= 4,
  hop: isPortRange,
}

export type Parameter = keyof typeof RULES

/** Whether a value may stand behind a key. */
export const fits = (key: Parameter, value: string | number): boolean => RULES[key](String(value))

/** Printable ASCII stands for itself but `"`, `%`, `\` and the space; each other byte of the UTF-8 is `%XX`. */
const encodeText = (text: string) =>
  text.replace(/[^!#$&-[\]-~]+/g, (part) =>
    Array.from(utf8(part), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
      '',
    ),
  )

/** One line, with its end. Throws for a value that does not fit, naming its key only. */
export function parameter(key: Parameter, value: string | number): string {
  const text = String(value)
  if (!RULES[key](text)) throw new Error(`a node's ${key} is none`)
  return `${key} ${TEXTS.has(key) ? encodeText(text) : text}\n`
}
