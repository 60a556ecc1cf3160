/** How a client logs in at Hysteria. */
import { createHmac } from 'node:crypto'

/** The Hysteria2 password of one subscription: 43 characters base64url, the same on node and list. */
export function hysteriaAuth(hysteriaPassword: string, uuid: string): string {
  return createHmac('sha256', hysteriaPassword).update(uuid).digest('base64url')
}
