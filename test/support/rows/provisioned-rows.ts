import type { World } from '#test/support/worlds/world.ts'
export const rowOf = (w: World, code: string) => {
  const [row] = w.rows('select * from nodes where code = ?', code)
  return row && { ...row, transports_json: JSON.parse(row.transports_json) }
}
