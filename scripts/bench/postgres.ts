/** A PostgreSQL server of the benchmark's own, and shops that are moved to it. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { startPostgres } from '#test/support/labs/postgres-server.ts'
import { environment, ROOT, type Runtime } from './processes.ts'

const run = promisify(execFile)

/** Runs `work` with a server that is as durable as Debian's is without a line of configuration. */
export async function withServer<T>(
  work: (server: Awaited<ReturnType<typeof startPostgres>>) => Promise<T>,
): Promise<T> {
  const server = await startPostgres([])
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  // It breaks where the server ends first: after a failure, which is what there is to be told.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Moves a shop, whose service does not run, as an operator does. */
export async function moveShop(
  runtime: Runtime,
  env: Record<string, string>,
  url: string,
): Promise<void> {
  const options = { cwd: ROOT, env: environment(env) }
  await run(runtime.program, ['scripts/move.ts', url], options)
}
