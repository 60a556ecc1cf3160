/** "Only user 123": a list narrowed to one user by its address. */
import { Button } from '#src/admin-ui/kit/button.tsx'
import { access } from './texts.ts'

/** Nothing while the list shows everyone. */
export function UserFilter({ tgId, clear }: { tgId: string; clear: () => void }) {
  if (tgId === '') return null
  return (
    <Button small icon="x" onClick={clear} label={access().showAllUsers(tgId)}>
      {access().onlyUser(tgId)}
    </Button>
  )
}
