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
const env = { ...process.env, SUBPANEL_NODE_DIR: dir }

mkdirSync(dir, { recursive: true, mode: 0o750 })
writeFileSync(
  join(dir, 'node.conf'),
  `XRAY_BIN=${xray}\nCORE_RESTART=kill -TERM "$(cat '${join(dir, 'core.pid')}')"\n`,
)

function runCore(): void {
  if (!existsSync(config)) {
    setTimeout(runCore, 100)
    return
  }
  spawnSync('bash', [program, 'prestart'], { env })
  const core = spawn(xray, ['run', '-c', config], { stdio: 'inherit' })
  writeFileSync(join(dir, 'core.pid'), `${core.pid}\n`)
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
