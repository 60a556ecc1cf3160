/** Every operation of the service. */
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { allOperations } from '../admin/operations.ts'
import { type Operation, TAGS } from '../operation.ts'
import { shopOperations } from '../shop.ts'
import { noticeOperations } from './notices.ts'
import { listPublicOperations } from './public.ts'

/** All of them by tag, where the admin page is at `/{adminPath}`. */
export function listOperations(
  adminPath: string,
  gateways: readonly GatewayDescriptor[],
): Operation[] {
  const all: Operation[] = [
    ...allOperations(gateways),
    ...shopOperations,
    ...noticeOperations(gateways),
    ...listPublicOperations(adminPath),
  ]
  return TAGS.flatMap((tag) => all.filter((one) => one.tag === tag))
}
