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
import { App } from './shell/app.tsx'

render(<App />, root)
