/** Rows of a list put in order by a pointer: taken by the grip, dropped on the place of another row. */
import { button, type Page } from './panel-browser.ts'

/** So many positions a pointer is seen at on its way. */
const STEPS = 8

interface Point {
  x: number
  y: number
}

async function gripOf(page: Page, name: string): Promise<Point> {
  const box = await button(page, name).boundingBox()
  if (!box) throw new Error(`no grip is shown: ${name}`)
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

/** From the middle of one grip to beyond the middle of the other, seen from there. */
async function wayOf(page: Page, from: string, to: string): Promise<Point[]> {
  // Which may come, and move the other rows, only now.
  await button(page, to).waitFor()
  await button(page, from).scrollIntoViewIfNeeded()
  const [start, other] = [await gripOf(page, from), await gripOf(page, to)]
  const end = other.y + 4 * Math.sign(other.y - start.y)
  return Array.from({ length: STEPS + 1 }, (_, n) => ({
    x: start.x,
    y: start.y + ((end - start.y) * n) / STEPS,
  }))
}

/** Drags a row by its grip to the place of another; both are named as their grips are: `Move Helsinki`. */
export async function dragByMouse(page: Page, from: string, to: string): Promise<void> {
  const [start, ...way] = (await wayOf(page, from, to)) as [Point, ...Point[]]
  await page.mouse.move(start.x, start.y)
  await page.mouse.down()
  for (const { x, y } of way) await page.mouse.move(x, y)
  await page.mouse.up()
}

/** The same with a finger. */
export async function dragByTouch(page: Page, from: string, to: string): Promise<void> {
  const debug = await page.context().newCDPSession(page)
  const [start, ...way] = (await wayOf(page, from, to)) as [Point, ...Point[]]
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: Point[]) =>
    debug.send('Input.dispatchTouchEvent', { type, touchPoints })
  await touch('touchStart', [start])
  for (const point of way) await touch('touchMove', [point])
  await touch('touchEnd', [])
  await debug.detach()
}
