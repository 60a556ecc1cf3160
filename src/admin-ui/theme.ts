/** Light or dark: as the system says, or as chosen in this browser. */
import { remember } from './boot.ts'
import { createStore } from './store.ts'

type Theme = 'light' | 'dark'

const systemDark = matchMedia('(prefers-color-scheme: dark)')

const themeNow = (): Theme => {
  const chosen = document.documentElement.dataset.theme
  if (chosen === 'light' || chosen === 'dark') return chosen
  return systemDark.matches ? 'dark' : 'light'
}

/** The theme that is shown; charts are drawn again when it changes. */
export const theme = createStore<Theme>(themeNow())
systemDark.addEventListener('change', () => theme.set(themeNow()))

export function toggleTheme(): void {
  const next = themeNow() === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset.theme = next
  remember('panel_theme', next)
  theme.set(next)
}
