/** Sales as they happen. */
import { type Reading, run, type Steps } from './engine/database.ts'
import { and, asc, eq, gte, sql } from './engine/orm.ts'
import { nodes, payments, plans, trafficPacks, users } from './schema/index.ts'

/** The payments that were paid since a moment, oldest first, at most `most`, with what is shown of them. */
export function* listSales(q: Reading, since: string, most: number) {
  return yield* run(
    q
      .select({
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
        paidAt: payments.paidAt,
      })
      .from(payments)
      .leftJoin(users, eq(users.tgId, payments.tgId))
      .leftJoin(nodes, eq(nodes.code, payments.node))
      .leftJoin(plans, eq(plans.code, payments.plan))
      .leftJoin(trafficPacks, eq(trafficPacks.code, payments.pack))
      .where(and(sql`${payments.status} = 'paid'`, gte(payments.paidAt, since)))
      .orderBy(asc(payments.paidAt), asc(payments.seq))
      .limit(most),
  )
}

export type ListedSale = ReturnType<typeof listSales> extends Steps<(infer Row)[]> ? Row : never
