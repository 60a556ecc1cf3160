import { expect, test } from 'vitest'
import { createBatch } from '#src/lib/batch.ts'

const LATER = 1_000_000

test('hands distinct items on together, in the order of their coming', () => {
  const delivered: number[][] = []
  const batch = createBatch<number>(LATER, (items) => delivered.push(items))
  for (const item of [3, 1, 3, 2, 1]) batch.add(item)
  expect(delivered).toEqual([])
  batch.flush()
  expect(delivered).toEqual([[3, 1, 2]])
})

test('hands nothing on when nothing was collected', () => {
  const delivered: number[][] = []
  const batch = createBatch<number>(LATER, (items) => delivered.push(items))
  batch.flush()
  batch.add(1)
  batch.flush()
  batch.flush()
  expect(delivered).toEqual([[1]])
})

test('collects anew after handing on, what is added meanwhile included', () => {
  const delivered: number[][] = []
  const batch = createBatch<number>(LATER, (items) => {
    delivered.push(items)
    if (items[0] === 1) batch.add(2)
  })
  batch.add(1)
  batch.flush()
  expect(delivered).toEqual([[1]])
  batch.flush()
  expect(delivered).toEqual([[1], [2]])
})

test('hands on by itself after its delay, again and again', async () => {
  let arrived: (items: number[]) => void = () => {}
  const batch = createBatch<number>(1, (items) => arrived(items))
  for (const item of [1, 2]) {
    const next = new Promise<number[]>((resolve) => {
      arrived = resolve
    })
    batch.add(item)
    expect(await next).toEqual([item])
  }
})
