/** What counts against a quota, when it is used up, and what periods, sales and admins make of it. */
import { describe, expect, test } from 'vitest'
import type { Quota } from '#db/quotas.ts'
import {
  allowanceOf,
  begun,
  counted,
  edited,
  leftOf,
  NO_QUOTA,
  renewed,
  resetAt,
  resumed,
  type SoldQuota,
  withExtra,
} from '#src/domain/quotas.ts'
import { GB } from '#src/lib/sizes.ts'

const AT = new Date('2026-03-10T12:00:00Z')
const NOW = '2026-03-10T12:00:00'
const MOMENT = { at: AT, timeZone: 'UTC' }
const LATER = { at: new Date('2026-03-20T08:00:00Z'), timeZone: 'UTC' }

const sold = (gb: number | null, quotaPeriod: SoldQuota['quotaPeriod'] = 'month'): SoldQuota => ({
  quotaBytes: gb === null ? null : gb * GB,
  quotaPeriod,
})
const started = (
  gb: number,
  period: SoldQuota['quotaPeriod'] = 'month',
  more: Partial<Quota> = {},
) => ({
  ...begun(sold(gb, period), MOMENT),
  ...more,
})
const count = (quota: Quota, bytes: number, share = 100) => counted(quota, bytes, share, AT)

describe('counting', () => {
  test('is at the limit with the last byte, and not before', () => {
    const quota = started(1, 'none', { quotaNotice: 95, usedBytes: GB - 10 })
    const before = count(quota, 9)
    expect([before.quota.usedBytes, before.quota.limitedAt, before.notice]).toEqual([
      GB - 1,
      null,
      0,
    ])
    const last = count(before.quota, 1)
    expect([last.quota.usedBytes, last.quota.limitedAt, last.notice]).toEqual([GB, NOW, 100])
  })

  test('tells of 80, 95 and 100 % once each, and of the last where it passes several', () => {
    let quota: Quota = started(1, 'none')
    const notices: number[] = []
    for (let i = 0; i < 110; i++) {
      const done = count(quota, Math.ceil(GB / 100))
      quota = done.quota
      if (done.notice !== 0) notices.push(done.notice)
    }
    expect(notices).toEqual([80, 95, 100])
    expect(count(started(1), 2 * GB).notice).toBe(100)
    expect(count(started(1), 0.96 * GB).notice).toBe(95)
  })

  test('carries what is no whole byte, so that nothing is lost over time', () => {
    for (const share of [1, 33, 50, 99, 150, 1000]) {
      let quota: Quota = started(1000)
      let sum = 0
      for (let i = 1; i <= 500; i++) {
        sum += i * 7
        quota = count(quota, i * 7, share).quota
      }
      expect(quota.usedBytes).toBe(Math.floor((sum * share) / 100))
      expect(quota.usedRest).toBe((sum * share) % 100)
    }
  })

  test('is exact for as many bytes as a reading may have', () => {
    const bytes = 2 ** 51
    expect(count(started(1_000_000), bytes, 137).quota.usedBytes).toBe(
      Number((BigInt(bytes) * 137n) / 100n),
    )
  })

  test('counts nothing without a quota, and nothing where nothing counts', () => {
    expect(count(NO_QUOTA, GB)).toEqual({ quota: NO_QUOTA, notice: 0 })
    const quota = started(1)
    expect(count(quota, GB, 0)).toEqual({ quota, notice: 0 })
  })

  test('goes on for who is limited already, and tells nothing twice', () => {
    const limited = count(started(1), GB).quota
    const more = counted(limited, 5, 100, new Date('2026-03-11T00:00:00Z'))
    expect([more.notice, more.quota.limitedAt, more.quota.usedBytes]).toEqual([0, NOW, GB + 5])
  })
})

describe('a period', () => {
  test.each([
    ['none', null],
    ['day', '2026-03-11T00:00:00'],
    ['week', '2026-03-16T00:00:00'],
    ['month', '2026-04-01T00:00:00'],
    ['rolling', '2026-04-10T12:00:00'],
  ] as const)('by %s ends at %s', (period, at) => {
    expect(started(1, period).resetsAt).toBe(at)
  })

  test('that is over leaves what was bought beside the quota and is not used', () => {
    const quota = { ...started(10), extraBytes: 5 * GB, usedBytes: 12 * GB, quotaNotice: 80 }
    const next = resetAt(quota, { at: new Date('2026-04-01T00:00:30Z'), timeZone: 'UTC' })
    expect(next).toMatchObject({
      extraBytes: 3 * GB,
      usedBytes: 0,
      usedRest: 0,
      limitedAt: null,
      quotaNotice: 0,
      resetsAt: '2026-05-01T00:00:00',
    })
    expect(resetAt({ ...quota, usedBytes: 9 * GB }, LATER).extraBytes).toBe(5 * GB)
    expect(resetAt({ ...quota, usedBytes: 20 * GB }, LATER).extraBytes).toBe(0)
  })

  test('that nobody looked at for months ends once, and the next one is ahead', () => {
    const quota = started(1, 'rolling', { quotaAnchor: '2026-01-31T10:00:00' })
    const next = resetAt(quota, { at: new Date('2026-05-02T00:00:00Z'), timeZone: 'UTC' })
    expect(next.resetsAt).toBe('2026-05-31T10:00:00')
  })

  test('of one’s own that an archive lets begin at the end of time stops no other', () => {
    const quota = started(1, 'rolling', { quotaAnchor: '9999-12-31T23:59:59' })
    expect(resetAt(quota, LATER).resetsAt).toBe('2026-04-20T08:00:00')
  })

  test('of one’s own is put off by a pause, one of the calendar is not', () => {
    const pausedMs = 3 * 86_400_000
    const own = resumed(started(1, 'rolling'), NOW, pausedMs)
    expect([own.resetsAt, own.quotaAnchor]).toEqual(['2026-04-13T12:00:00', '2026-03-13T12:00:00'])
    // Renewed in the middle of the pause: it has waited from then on.
    const renewedThen = resumed(started(1, 'rolling'), '2026-03-09T12:00:00', pausedMs)
    expect(renewedThen.resetsAt).toBe('2026-04-12T12:00:00')
    const month = started(1, 'month')
    expect(resumed(month, NOW, pausedMs)).toBe(month)
    expect(resumed(NO_QUOTA, NOW, pausedMs)).toEqual(NO_QUOTA)
  })
})

describe('a renewal', () => {
  test('without periods adds what was bought, and lifts the limit', () => {
    const limited = count(started(10, 'none'), 10 * GB).quota
    const next = renewed(limited, sold(10, 'none'), LATER)
    expect(next).toMatchObject({ quotaBytes: 20 * GB, usedBytes: 10 * GB, limitedAt: null })
    expect(next.quotaNotice).toBe(0)
  })

  test('with periods leaves the present one as it is', () => {
    const quota = started(10, 'month', { usedBytes: 4 * GB, extraBytes: GB })
    expect(renewed(quota, sold(10), LATER)).toEqual(quota)
  })

  test('begins a new period for who has used up all', () => {
    const limited = count({ ...started(10, 'rolling'), extraBytes: 2 * GB }, 12 * GB).quota
    expect(renewed(limited, sold(10, 'rolling'), LATER)).toMatchObject({
      usedBytes: 0,
      extraBytes: 0,
      limitedAt: null,
      quotaAnchor: '2026-03-20T08:00:00',
      resetsAt: '2026-04-20T08:00:00',
    })
  })

  test('by another plan brings its quota and periods; what is used stays used', () => {
    const quota = started(10, 'month', { usedBytes: 4 * GB })
    expect(renewed(quota, sold(50, 'week'), LATER)).toMatchObject({
      ...{ quotaBytes: 50 * GB, quotaPeriod: 'week', usedBytes: 4 * GB },
      resetsAt: '2026-03-23T00:00:00',
    })
    expect(renewed(quota, sold(50, 'none'), LATER)).toMatchObject({
      ...{ quotaBytes: 50 * GB, quotaPeriod: 'none', usedBytes: 4 * GB, resetsAt: null },
    })
  })

  test('by one with less than is used begins anew: who pays is served', () => {
    const quota = started(100, 'month', { usedBytes: 40 * GB })
    expect(renewed(quota, sold(10), LATER)).toMatchObject({ usedBytes: 0, limitedAt: null })
  })

  test('by one without a limit, and from one without, begins anew', () => {
    expect(renewed(count(started(1), GB).quota, sold(null), LATER)).toEqual(NO_QUOTA)
    expect(renewed(NO_QUOTA, sold(5), LATER)).toEqual(begun(sold(5), LATER))
  })

  test('keeps what was bought beside it through a time without a limit, as far as it was not used', () => {
    const bought = { ...started(10), extraBytes: 5 * GB, usedBytes: 12 * GB }
    const free = renewed(bought, sold(null), LATER)
    expect(free).toEqual({ ...NO_QUOTA, extraBytes: 3 * GB })
    expect(renewed(free, sold(null), LATER)).toEqual(free)
    expect(counted(free, GB, 100, AT).quota).toBe(free)
    expect(edited(free, { quotaPeriod: 'none' }, LATER)).toBe(free)
    expect(edited(free, { quotaBytes: GB }, LATER).extraBytes).toBe(3 * GB)
    expect(renewed(free, sold(20, 'month'), LATER)).toEqual({
      ...begun(sold(20, 'month'), LATER),
      extraBytes: 3 * GB,
    })
    // A refund of it takes what is left then too.
    expect(withExtra(free, -GB, AT)).toEqual({ ...NO_QUOTA, extraBytes: 2 * GB })
  })
})

describe('what is bought beside the quota', () => {
  test('lifts the limit, and owners are told of the shares anew', () => {
    const limited = count(started(10), 10 * GB).quota
    const more = withExtra(limited, 90 * GB, AT)
    expect([more.limitedAt, more.quotaNotice, leftOf(more), allowanceOf(more)]).toEqual([
      null,
      0,
      90 * GB,
      100 * GB,
    ])
    expect(count(more, 70 * GB).notice).toBe(80)
  })
})

describe('an admin’s change', () => {
  test('limits at once where less is allowed than is used, and the other way round', () => {
    const quota = started(10, 'month', { usedBytes: 4 * GB })
    const less = edited(quota, { quotaBytes: 4 * GB }, LATER)
    expect(less.limitedAt).toBe('2026-03-20T08:00:00')
    expect(edited(less, { extraBytes: 1 }, LATER).limitedAt).toBeNull()
  })

  test('takes a quota away with all that belongs to it, and begins one with nothing used', () => {
    expect(edited(count(started(1), GB).quota, { quotaBytes: null }, LATER)).toEqual(NO_QUOTA)
    const fresh = edited(NO_QUOTA, { quotaBytes: GB, quotaPeriod: 'day', extraBytes: GB }, LATER)
    expect(fresh).toMatchObject({ usedBytes: 0, extraBytes: GB, resetsAt: '2026-03-21T00:00:00' })
  })
})
