/** Sales as they happen. */
import { type Reading, run, type Steps } from './engine/database.ts'
import { and, asc, eq, gte, sql } from './engine/orm.ts'
import { nodes, payments, plans, trafficPacks, users } from './schema/index.ts'

/** Where a portion of sales ends. */
export interface SalesCursor {
  paidAt: string
  seq: number
}

/** The payments that were paid after those of the portion before, oldest first, at most `most`, with what is shown of them. */
export function* listSales(q: Reading, after: SalesCursor, most: number) {
  return yield* run(
    q
      .select({
        seq: payments.seq,
        id: payments.id,
        tgId: payments.tgId,
        username: users.username,
        name: users.name,
        kind: payments.kind,
        node: payments.node,
        nodeLabel: nodes.label,
        plan: payments.plan,
        planLabel: plans.label,
        packLabel: trafficPacks.label,
        provider: payments.provider,
        amount: payments.amount,
        currency: payments.currency,
        paidAt: sql<string>`${payments.paidAt}`,
      })
      .from(payments)
      .leftJoin(users, eq(users.tgId, payments.tgId))
      .leftJoin(nodes, eq(nodes.code, payments.node))
      .leftJoin(plans, eq(plans.code, payments.plan))
      .leftJoin(trafficPacks, eq(trafficPacks.code, payments.pack))
      .where(
        and(
          sql`${payments.status} = 'paid'`,
          gte(payments.paidAt, after.paidAt),
          sql`(${payments.paidAt}, ${payments.seq}) > (${after.paidAt}, ${after.seq})`,
        ),
      )
      .orderBy(asc(payments.paidAt), asc(payments.seq))
      .limit(most),
  )
}

export type ListedSale = ReturnType<typeof listSales> extends Steps<(infer Row)[]> ? Row : never
