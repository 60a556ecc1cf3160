/** The receiver of outbound events. */

/** Who gets outbound events. */
export interface WebhookReceiver {
  url: string
  /** WEBHOOK_SECRET as it is stored; its UTF-8 bytes are the key. */
  secret: string
}

export interface WebhookRequest extends WebhookReceiver {
  id: string
  event: string
  /** The signed bytes are the sent bytes. */
  body: string
  at: Date
}

export interface WebhookResult {
  /** Null: no answer. */
  httpStatus: number | null
  /** Null: accepted. */
  error: string | null
}

/** The receiver of outbound events. */
export interface EventSender {
  /** Makes one attempt; at most 10 s. Never throws. */
  send(request: WebhookRequest): Promise<WebhookResult>
}
