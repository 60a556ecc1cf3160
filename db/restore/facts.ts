/** What a restore is told: what it may take, and what it says of itself. */

export interface Former {
  tgIds: number[]
  botToken: string | null
  /** Who is sent events of restores; null where nobody is. */
  receiver: { url: string; secret: string } | null
}

/** A row of `former_credentials`, with what may be anything. */
export interface FormerShop {
  provider: string
  shopId: string
  secret: string
  preset: string | null
  apiUrl: string | null
  replacedAt: string
}

export interface RestoreFacts {
  /** The timestamp of the restore. */
  at: string
  generation: string
  /** The keys of the rows of `settings` that come back. */
  accepted(rows: { key: string; value: string }[]): Set<string>
  /** Whether the credentials of a former shop come back. */
  isFormerShop(shop: FormerShop): boolean
  reviewReason: string
  refundedReason: string
  audit: { admin: string | null; ip: string }
  /** The shops that new payments go to, by the settings that `row` reads; `env`: the env file as it will be, undefined for now. */
  shops(row: (key: string) => string | undefined, env?: string): FormerShop[]
  /** Who is told before the restore, and by which bot; `row` reads a live setting. */
  former(row: (key: string) => string | undefined): Former
  /** What they are told of it; `passphraseTaken`: backups are encrypted from now on, to the archive's passphrase. */
  message(passphraseTaken: boolean): { kind: string; payload: object }
  /** The session that asks; null for the operator's script. */
  sessionId: number | null
  /** The key of the archive: that of backups from now on where this machine has none. Null for none, and for one that is too weak. */
  adoptable: string | null
}
