/** The messaging platform. */

/** The messaging platform. Calls never throw. */
export interface Telegram {
  /** Whose token it is: the identity call, bounded to 10 s. */
  identify(token: string): Promise<{ username: string } | 'rejected' | 'unreachable'>
  /** Sends a text in Telegram's HTML, without a preview of its links, with its buttons below one another; at most 10 s. */
  sendMessage(
    token: string,
    message: { chatId: number; html: string; buttons?: LinkButton[] },
  ): Promise<SendOutcome>
}

/** A button under a message that opens a web address. */
export interface LinkButton {
  text: string
  url: string
}

export type SendOutcome =
  | { outcome: 'sent' }
  /** The user does not want to hear of the bot, or is gone. */
  | { outcome: 'blocked'; reason: string }
  /** Not delivered, and never will be. */
  | { outcome: 'refused'; reason: string }
  /** Surely not delivered: may be tried again, with `retryAfterMs` not before that, nor anything else. */
  | { outcome: 'later'; reason: string; retryAfterMs: number | null }
  /** The token is no bot's any more. Not delivered. */
  | { outcome: 'rejected' }
  /** Nobody knows whether it was delivered. */
  | { outcome: 'unknown'; reason: string }
