import { defineConfig } from 'vitest/config'

// `threads`: better-sqlite3 is a native addon and works in workers on Node and Bun.
// Unit and contract tests share what is imported within a worker (`isolate`), which saves a third of their time: the code keeps no
// state of its own in modules.
// `npm test` sets NODE_COMPILE_CACHE, as `npm start` does: threads that the tests start by themselves then load no TypeScript compiler.
// That is WebAssembly, and Node 24's V8 crashes now and then where several isolates run it (freed wrappers are freed again, and
// `Check failed: jit_page.has_value()`). COMPILE_CACHE fills the cache before the first of them, or a first run would have none.
// e2e and torture run real processes, ports and network namespaces, so their files go one after another.
const COMPILE_CACHE = ['test/support/compile-cache.ts']

const serial = {
  pool: 'threads' as const,
  fileParallelism: false,
  testTimeout: 180_000,
  hookTimeout: 180_000,
}

export default defineConfig({
  test: {
    // Vitest's own number is one less, which leaves one of two cores idle.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          pool: 'threads',
          isolate: false,
          globalSetup: COMPILE_CACHE,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          pool: 'threads',
          isolate: false,
          globalSetup: COMPILE_CACHE,
          // Eight restores, on a machine that has other things to do.
          testTimeout: 60_000,
        },
      },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...serial } },
      { test: { name: 'torture', include: ['test/torture/**/*.test.ts'], ...serial } },
      { test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], ...serial } },
    ],
  },
})
