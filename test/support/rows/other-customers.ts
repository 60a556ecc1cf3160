import type { World } from '#test/support/worlds/world.ts'
import { addUser } from './records.ts'

export const addOther = (w: World, tgId: number, more = {}) => {
  const token = addUser(w, tgId, more)
  w.change(
    "insert into sequences (name, last) values ('customers', ?) on conflict (name) do update set last = excluded.last",
    -tgId,
  )
  return token
}
