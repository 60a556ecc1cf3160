/**
 * What the buttons carry: `kind:argument:…`, at most 64 bytes (core.telegram.org/bots/api#inlinekeyboardbutton). There is no other
 * state of a conversation. Codes of nodes and plans may be too long for that, so their digests stand for them, looked up in what is
 * there when the button is tapped: it works after a restart and after a restore, and one whose node is gone is out of date.
 */
import { sha256Bytes } from '#src/lib/crypto.ts'
import { base64url } from '#src/lib/encoding.ts'

export type TapKind =
  | 'menu'
  | 'buy'
  /** A new subscription: node, plan, provider, as far as they are chosen. */
  | 'b'
  /** A renewal: id of the subscription (not its uuid), plan, provider. */
  | 'r'
  /** More traffic: id of the subscription (not its uuid), pack, provider. */
  | 't'
  /** Another server: id of the subscription, node, that it be done; as far as they are chosen. */
  | 'n'
  /** The days of another plan: id of the subscription, plan, as how many days it is to be done. */
  | 'p'
  /** "I have paid": the payment's id. */
  | 'paid'
  /** Own subscriptions, or one of them: its id. */
  | 's'
  | 'qr'
  /** Own devices; with an id: removes one. */
  | 'dev'
  /** Another link; with the digest of the present token: does it. */
  | 'reset'
  /** Redeems a gift code. */
  | 'gift'
  /** Connects the account of the site whose code it is. */
  | 'link'
  /** Help, or the apps of a system. */
  | 'help'
  /** Chooses a language. */
  | 'lang'

/** 48 bits of a digest: nobody has so many nodes, plans or packs that two would share them. */
export const shortOf = (text: string): string => base64url(sha256Bytes(text).subarray(0, 6))

export const tapData = (kind: TapKind, ...args: (string | number)[]): string =>
  [kind, ...args].join(':')

/** The kind, which may be none of ours, and its arguments. */
export function parseTap(data: string): { kind: string; args: string[] } {
  const [kind = '', ...args] = data.split(':')
  return { kind, args }
}

/** The one of these whose code the digest stands for. */
export const findByShort = <T extends { code: string }>(
  list: Iterable<T>,
  short: string | undefined,
): T | undefined => {
  for (const one of list) if (shortOf(one.code) === short) return one
  return undefined
}
