import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { ENGINE } from './db/engine/engine.ts'

// Of the contract on PostgreSQL (`npm run test:postgres`): tests about the file of SQLite, which copy, archive, restore or open it, have it read
// by a thread, or need a second process. What PostgreSQL has in their place has tests of its own (test/postgres).
const ABOUT_A_FILE = [
  'test/contract/http/{held-connections,unread-files}.test.ts',
  // Counts turns of the event loop, which a database that is waited for takes too.
  'test/contract/http/long-bodies.test.ts',
  'test/contract/installation/{backup,restore,restored}*.test.ts',
  'test/contract/installation/{facts,installation,reads,room}.test.ts',
  'test/contract/lists/sub-freshness.test.ts',
  'test/contract/notify/optional-events.test.ts',
  'test/contract/payments/payments-restore.test.ts',
]

// `threads`: better-sqlite3 is a native addon and works in workers on Node and Bun.
// Unit and contract tests share what is imported within a worker (`isolate`), which saves a third of their time: the code keeps no
// state of its own in modules.
// `npm test` sets NODE_COMPILE_CACHE, as `npm start` does: threads that the tests start by themselves then load no TypeScript compiler.
// That is WebAssembly, and Node 24's V8 crashes now and then where several isolates run it (freed wrappers are freed again, and
// `Check failed: jit_page.has_value()`). COMPILE_CACHE fills the cache before the first of them, or a first run would have none.
// e2e and torture run real processes, ports and network namespaces, so their files go one after another.
const COMPILE_CACHE = ['test/support/compile-cache.ts']

/** What comes is seen at once; what comes late on a busy machine, too. */
const PATIENT = { poll: { timeout: 10_000 } }

const serial = {
  pool: 'threads' as const,
  fileParallelism: false,
  testTimeout: 180_000,
  hookTimeout: 180_000,
}

export default defineConfig({
  test: {
    // More than there are cores: a fifth of the files wait for most of their time, for timers, disks and processes.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          pool: 'threads',
          isolate: false,
          globalSetup: COMPILE_CACHE,
          testTimeout: 60_000,
          expect: PATIENT,
        },
      },
      {
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...(ENGINE === 'postgres' ? ABOUT_A_FILE : [])],
          pool: 'threads',
          isolate: false,
          globalSetup: COMPILE_CACHE,
          // Eight restores, on a machine that has other things to do.
          testTimeout: 60_000,
          expect: PATIENT,
        },
      },
      // On the server that DATABASE_URL names.
      {
        test: {
          name: 'postgres',
          include: ['test/postgres/**/*.test.ts'],
          pool: 'threads',
          testTimeout: 20_000,
        },
      },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...serial } },
      { test: { name: 'torture', include: ['test/torture/**/*.test.ts'], ...serial } },
      { test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], ...serial } },
    ],
  },
})
