/** HTTP to systems outside, at addresses that an admin may have set. */

export interface OutboundRequest {
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  headers?: Record<string, string>
  body?: string
  /** Bounds the whole exchange, the answer's body included. */
  signal: AbortSignal
  /** How much of the answer is read. */
  maxBytes: number
}

export interface OutboundAnswer {
  /** A redirect is an answer like any other: it is not followed. */
  status: number
  body: Uint8Array
  /** False when the body was longer than `maxBytes`, and cut. */
  complete: boolean
  /** The header of that name, as it came. */
  retryAfter?: string | undefined
}

/** Sends one request. Rejects when there is no answer: refused address, no connection, time over. */
export type Outbound = (request: OutboundRequest) => Promise<OutboundAnswer>
