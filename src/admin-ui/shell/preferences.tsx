/** Theme and language: choices of this browser. */
import { LANG_NAMES, LANGS, lang, setLang } from '#src/admin-ui/i18n.ts'
import { IconButton } from '#src/admin-ui/kit/button.tsx'
import { Menu } from '#src/admin-ui/kit/menu.tsx'
import { shell } from '#src/admin-ui/texts.ts'
import { theme, toggleTheme } from '#src/admin-ui/theme.ts'

export const ThemeButton = () => (
  <IconButton
    bordered
    icon={theme.use() === 'dark' ? 'sun' : 'moon'}
    label={shell().theme}
    onClick={toggleTheme}
  />
)

export const LanguageButton = () => (
  <Menu
    bordered
    icon="language"
    label={shell().language}
    items={LANGS.map((language) => ({
      label: LANG_NAMES[language],
      ...(language === lang() && { icon: 'check' as const }),
      onClick: () => setLang(language),
    }))}
  />
)
