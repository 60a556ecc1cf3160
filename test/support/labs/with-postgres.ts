/** `node test/support/labs/with-postgres.ts COMMAND …`: runs a command with DATABASE_URL naming a PostgreSQL server that is there for it alone. */
import { spawn } from 'node:child_process'
import { startPostgres } from './postgres-server.ts'

const [command, ...args] = process.argv.slice(2)
if (command === undefined) {
  console.error('usage: node test/support/labs/with-postgres.ts COMMAND [ARGUMENT …]')
  process.exit(2)
}
const server = await startPostgres()
const child = spawn(command, args, {
  stdio: 'inherit',
  env: { ...process.env, DATABASE_URL: server.url },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
child.on('error', (error) => console.error(error.message))
const code = await new Promise<number>((resolve) => child.on('close', (exit) => resolve(exit ?? 1)))
await server.stop()
process.exitCode = code
