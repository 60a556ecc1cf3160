/** The core that this process runs: what it is started with. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { superviseCore } from '#src/integrations/nodes/local-core.ts'
import { localCorePaths, prepareLocalNode } from '#src/integrations/nodes/local-node.ts'
import { createLog } from '#src/lib/log.ts'

const dir = mkdtempSync(join(tmpdir(), 'subpanel-core-'))
afterEach(() => {
  delete process.env.BOT_TOKEN
  rmSync(dir, { recursive: true, force: true })
})

test('it has nothing of the environment of the service, where secrets stand', async () => {
  process.env.BOT_TOKEN = 'secret-of-the-service'
  const paths = localCorePaths(dir)
  prepareLocalNode(paths, null)
  writeFileSync(join(paths.directory, 'config.json'), '{}')
  const seen = join(dir, 'environ')
  const xrayBin = join(dir, 'xray')
  // Its own environment as it was given, before a shell adds to it.
  writeFileSync(
    xrayBin,
    `#!/bin/sh\ncat /proc/$$/environ >${seen}.new\nmv ${seen}.new ${seen}\nexec sleep 60\n`,
  )
  chmodSync(xrayBin, 0o755)
  const searchPath = '/usr/bin:/bin'
  const core = superviseCore({
    config: { xrayBin, coresDir: dir, searchPath },
    paths,
    program: '/dev/null',
    log: createLog(
      'error',
      () => new Date(),
      () => {},
    ),
    prepare: async () => {},
  })
  try {
    await expect.poll(() => existsSync(seen), { timeout: 10_000 }).toBe(true)
  } finally {
    await core.stop()
  }
  const names = readFileSync(seen, 'utf8').split('\0').filter(Boolean).sort()
  expect(names).toEqual([
    `PATH=${searchPath}`,
    `SUBPANEL_NODE_CONF=${paths.conf}`,
    `SUBPANEL_NODE_DIR=${paths.directory}`,
  ])
})
