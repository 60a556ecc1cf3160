/** Notices of the gateways. */
import { ok } from '#src/http/schemas/fields.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { type Operation, openOperations } from '../operation.ts'
import { noticePath } from '../webhooks.ts'

/** Those of these gateways, as they describe them. */
export const noticeOperations = (gateways: readonly GatewayDescriptor[]): Operation[] =>
  openOperations(
    'Notices',
    gateways.flatMap(({ notices = [] }) =>
      notices.map(({ name, read: _read, ...described }) => ({
        ...described,
        method: 'post' as const,
        path: noticePath(name),
        ok,
      })),
    ),
  )
