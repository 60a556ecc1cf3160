/** The panel: reads what the page says, draws itself into it. */
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/parts.css'
import './styles/tables.css'
import './styles/dialogs.css'
import './styles/shell.css'
import { render } from 'preact'
import { root } from './boot.ts'
import { overviewReads } from './overview-reads.ts'
import { askAhead } from './query.ts'
import { currentRoute } from './router.ts'
import { session } from './session.ts'
import { App } from './shell/app.tsx'

const { path, query } = currentRoute()
if (path === '/' && session.get() === 'in') {
  const { stats, active, nodes, series } = overviewReads(query)
  for (const [key, load] of [stats, active, nodes, series]) askAhead(key, load)
}
render(<App />, root)
