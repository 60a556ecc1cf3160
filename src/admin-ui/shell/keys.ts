/** Keys of the frame: Ctrl+K, `/`, `?`, `g` and a letter. Not while somebody types. */
import { useEffect } from 'preact/hooks'
import { go } from '#src/admin-ui/router.ts'
import { SCREENS } from '#src/admin-ui/routes.ts'

const TOGETHER_MS = 1200

interface Keys {
  palette: () => void
  help: () => void
}

function types(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select') !== null
}

const isPalette = (event: KeyboardEvent) =>
  (event.ctrlKey || event.metaKey) && event.code === 'KeyK'

/** Whether a key is meant for the frame: not while typing, not over a dialog, not as part of another shortcut. */
const isPlain = (event: KeyboardEvent) =>
  !(event.ctrlKey || event.metaKey || event.altKey) &&
  !types(event.target) &&
  document.querySelector('dialog[open]') === null

/** The key as a Latin keyboard has it: letters of other alphabets by where they lie. */
const letterOf = ({ key, code }: KeyboardEvent) =>
  key > '~' && code.startsWith('Key') ? code.charAt(3).toLowerCase() : key

function focusSearch(): boolean {
  const search = document.querySelector<HTMLElement>('.content input[type="search"]')
  search?.focus()
  return search !== null
}

function goTo(letter: string): boolean {
  const screen = SCREENS.find((one) => one.letter === letter)
  if (screen) go(screen.path)
  return screen !== undefined
}

/** What a plain key does; `g` waits for a letter. */
function createPlainKeys(keys: Keys): (key: string) => boolean {
  let goAt = Number.NEGATIVE_INFINITY
  return (key) => {
    const waited = performance.now() - goAt < TOGETHER_MS
    goAt = key === 'g' ? performance.now() : Number.NEGATIVE_INFINITY
    if (waited && goTo(key)) return true
    if (key === '?') keys.help()
    else if (key === '/') focusSearch() || keys.palette()
    else return false
    return true
  }
}

export function useKeys(keys: Keys): void {
  useEffect(() => {
    const plain = createPlainKeys(keys)
    const onKeyDown = (event: KeyboardEvent) => {
      if (isPalette(event)) keys.palette()
      else if (!isPlain(event) || !plain(letterOf(event))) return
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
}
