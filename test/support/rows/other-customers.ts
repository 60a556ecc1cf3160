import type { World } from '#test/support/worlds/world.ts'
import { addUser } from './records.ts'

export const addOther = (w: World, tgId: number, more = {}) => {
  const token = addUser(w, tgId, more)
  w.change("insert or replace into sequences (name, last) values ('customers', ?)", -tgId)
  return token
}
