/** Asks PostgreSQL and waits for the answer within the call, as tests do of SQLite: a thread of its own asks. */
import { join } from 'node:path'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { linesOf, questionsOf } from '#db/engine/invariants.ts'
import { statementOf } from '#db/engine/postgres/verify.ts'

/** Longer than the thread waits for a lock. */
const PATIENCE_MS = 20_000

interface SyncClient {
  // biome-ignore lint/suspicious/noExplicitAny: tests read columns of unknown type
  query(url: string, sql: string, values?: unknown[]): any[]
}

function createSyncClient(): SyncClient {
  let thread: { worker: Worker; say: (word: object) => unknown } | null = null
  const start = () => {
    const signal = new Int32Array(new SharedArrayBuffer(4))
    const { port1, port2 } = new MessageChannel()
    const worker = new Worker(join(import.meta.dirname, 'sync-client-worker.ts'), {
      workerData: { signal, port: port2 },
      transferList: [port2],
    })
    worker.unref()
    let asked = 0
    const say = (word: object) => {
      const id = ++asked
      Atomics.store(signal, 0, 0)
      port1.postMessage({ ...word, id })
      const until = performance.now() + PATIENCE_MS
      // The thread may tell of the answer before this one only now: what counts is the value.
      while (Atomics.load(signal, 0) === 0 && performance.now() < until)
        Atomics.wait(signal, 0, 0, until - performance.now())
      // A late answer to an earlier question is nobody's.
      let answer = receiveMessageOnPort(port1)?.message
      while (answer && answer.id !== id) answer = receiveMessageOnPort(port1)?.message
      if (!answer)
        throw new Error('PostgreSQL did not answer: a transaction of the service is open')
      if (answer.error) throw Object.assign(new Error(answer.error), { code: answer.code })
      return answer.rows
    }
    return { worker, say }
  }
  const say = (word: object) => {
    thread ??= start()
    return thread.say(word)
  }
  return {
    query: (url, sql, values) => say({ url, sql, values }) as unknown[],
  }
}

/** SQLite's parameters by their place. */
export const numbered = (sql: string) => {
  let n = 0
  return sql.replace(/\?/g, () => `$${++n}`)
}

const server = createSyncClient()

/** Asks the server at `url` in the words of SQLite: `?` for a parameter. */
// biome-ignore lint/suspicious/noExplicitAny: tests read columns of unknown type
export const rowsOf = (url: string, sql: string, values: unknown[] = []): any[] =>
  server.query(url, numbered(sql), values)

/** What `npm run verify` would say of a database on a server. */
export const faultsOf = (url: string, since: string): string[] =>
  questionsOf('postgres').flatMap((question) =>
    linesOf(
      question,
      server.query(url, ...statementOf(question, since)).flatMap((row) => Object.values(row)),
    ),
  )
