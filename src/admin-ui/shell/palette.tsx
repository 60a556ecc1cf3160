/** Ctrl+K: any screen, any user, any action of the frame, by typing. */
import { useEffect, useState } from 'preact/hooks'
import { api, paged } from '#src/admin-ui/api.ts'
import { userName } from '#src/admin-ui/format.ts'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { Icon, type IconName } from '#src/admin-ui/kit/icons.tsx'
import { go } from '#src/admin-ui/router.ts'
import { OVERLAYS, SCREENS } from '#src/admin-ui/routes.ts'
import { shell } from '#src/admin-ui/texts.ts'
import { toggleTheme } from '#src/admin-ui/theme.ts'
import { logOut } from './log-out.ts'

interface Command {
  id: string
  label: string
  kind: string
  icon: IconName
  /** What else finds it, besides label and id. */
  words?: string | undefined
  run: () => unknown
}

const TYPING_MS = 150
const MOST_USERS = '6'

function frameCommands(): Command[] {
  const t = shell()
  const screens = SCREENS.map((screen) => ({
    id: screen.path,
    label: t.screens[screen.title],
    kind: t.paletteScreen,
    icon: screen.icon,
    words: t.words[screen.title],
    run: () => go(screen.path),
  }))
  const settings = Object.entries(t.settings).map(([tab, label]) => ({
    id: `/settings/${tab}`,
    label,
    kind: t.screens.settings,
    icon: 'settings' as const,
    run: () => go(`/settings/${tab}`),
  }))
  const action = (id: string, label: string, icon: IconName, run: () => unknown) => ({
    id,
    label,
    kind: t.paletteAction,
    icon,
    run,
  })
  return [
    ...screens,
    ...settings,
    action('theme', t.theme, 'moon', toggleTheme),
    action('logout', t.logout, 'logout', logOut),
  ]
}

/** Users whose name or id matches, once typing pauses. */
function useFoundUsers(text: string): Command[] {
  const [found, setFound] = useState<Command[]>([])
  useEffect(() => {
    let stale = false
    setFound([])
    if (text.length < 2 || !('user' in OVERLAYS)) return
    const timer = setTimeout(async () => {
      const page = await paged(api.users.$get({ query: { q: text, limit: MOST_USERS } })).catch(
        () => null,
      )
      if (stale || !page) return
      setFound(
        page.rows.map((user) => ({
          id: `user-${user.tg_id}`,
          label: userName(user),
          kind: `${shell().paletteUser} ${user.tg_id}`,
          icon: 'user' as const,
          run: () => go('/users', { user: user.tg_id }),
        })),
      )
    }, TYPING_MS)
    return () => {
      stale = true
      clearTimeout(timer)
    }
  }, [text])
  return found
}

export function Palette({ close }: { close: () => void }) {
  const t = shell()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const users = useFoundUsers(text.trim())
  const wanted = text.trim().toLowerCase()
  const commands = [
    ...frameCommands().filter(({ id, label, words }) =>
      `${label} ${id} ${words ?? ''}`.toLowerCase().includes(wanted),
    ),
    ...users,
  ]
  const chosen = commands[Math.min(at, commands.length - 1)]
  const start = (command: Command | undefined) => {
    if (!command) return
    close()
    void command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const count = Math.max(1, commands.length)
    if (event.key === 'ArrowDown') setAt((at + 1) % count)
    else if (event.key === 'ArrowUp') setAt((at - 1 + count) % count)
    else if (event.key === 'Enter') start(chosen)
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={t.palette} form="bare" onClose={close}>
      <div class="palette">
        <input
          role="combobox"
          aria-expanded={commands.length > 0}
          aria-controls="palette-list"
          aria-activedescendant={chosen && `palette-${chosen.id}`}
          aria-label={t.find}
          placeholder={t.find}
          autoComplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <div id="palette-list" role="listbox" aria-label={t.palette} tabIndex={-1}>
          {commands.map((command) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys belong to the combobox
            <div
              key={command.id}
              id={`palette-${command.id}`}
              role="option"
              aria-selected={command === chosen}
              tabIndex={-1}
              onClick={() => start(command)}
            >
              <Icon name={command.icon} />
              {command.label}
              <small>{command.kind}</small>
            </div>
          ))}
        </div>
        {commands.length === 0 && <p role="status">{t.paletteNone}</p>}
      </div>
    </Dialog>
  )
}
