import { addSubscription, addUser } from '#test/support/rows/records.ts'
import type { Answer } from '#test/support/worlds/answer.ts'
import type { World } from '#test/support/worlds/world.ts'

export const fetchAs = (token: string, headers: Record<string, string>) => ({
  path: `/sub/${token}`,
  host: 'sub.test',
  headers,
})

/** A user with one subscription of 30 days; gives their token. */
export function buyer(w: World): string {
  const token = addUser(w, 7)
  addSubscription(w, 7)
  return token
}

export const links = (answer: Answer): string[] => {
  const text = atob(answer.text)
  return text === '' ? [] : text.trimEnd().split('\n')
}
