/**
 * Stands in for systemd in LOCAL_CORE=system: keeps a core running as its own unit would, and answers the node program's
 * socket with one process per connection (`Accept=yes`). Usage: system-node.ts DIR XRAY SOCKET PROGRAM
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

const [dir, xray, socket, program] = process.argv.slice(2) as [string, string, string, string]
const config = join(dir, 'config.json')
const settings = `${dir}.conf`
const pidFile = join(settings, 'core.pid')
const conf = join(settings, 'node.conf')
const env = { ...process.env, SUBPANEL_NODE_DIR: dir, SUBPANEL_NODE_CONF: conf }

mkdirSync(dir, { recursive: true, mode: 0o750 })
mkdirSync(settings, { mode: 0o755 })
writeFileSync(conf, `XRAY_BIN=${xray}\nSUPERVISOR=pidfile\nCORE_PID=${pidFile}\n`, { mode: 0o600 })

function runCore(): void {
  if (!existsSync(config)) {
    setTimeout(runCore, 100)
    return
  }
  spawnSync('bash', [program, 'prestart'], { env })
  const core = spawn(xray, ['run', '-c', config], { stdio: 'inherit' })
  writeFileSync(pidFile, `${core.pid}\n`)
  core.on('close', () => setTimeout(runCore, 100))
}

createServer({ allowHalfOpen: true }, (connection) => {
  const child = spawn('bash', [program], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => {})
  connection.on('error', () => child.kill())
  connection.pipe(child.stdin)
  child.stdout.pipe(connection)
}).listen(socket, () => console.log('node program is listening'))
runCore()
