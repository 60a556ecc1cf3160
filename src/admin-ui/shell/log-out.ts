/** Ends the session here and at the service. */
import { api, ok } from '#src/admin-ui/api.ts'
import { toastError } from '#src/admin-ui/kit/toast.tsx'
import { forgetAll } from '#src/admin-ui/query.ts'
import { session } from '#src/admin-ui/session.ts'

export async function logOut(): Promise<void> {
  try {
    await ok(api.logout.$post())
  } catch (error) {
    return toastError(error)
  }
  forgetAll()
  session.set('out')
}
