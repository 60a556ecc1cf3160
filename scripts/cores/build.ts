/** Builds Xray with Go from its module, which Go checks against its own checksum database. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Arch } from '#src/lib/elf.ts'
import type { Binary, Progress } from './install.ts'
import { ownArch } from './install.ts'

const MODULE = 'github.com/xtls/xray-core'
const LIMIT_MS = 30 * 60_000

/**
 * Go takes no tag from v26.4 on (the module path has no /v26), so a release is named by the
 * pseudo-version of its commit. Add a line when the pinned version changes.
 */
const MODULE_VERSIONS = new Map([
  ['v26.3.27', 'v1.260327.0'],
  ['v26.6.27', 'v1.260327.1-0.20260627131803-45cf2898ab12'],
  ['v26.7.28', 'v1.260327.1-0.20260728075948-5ca6f4b7d4dc'],
])

type Environment = Record<string, string | undefined>

function goSetting(name: string, environment: Environment): string {
  const result = spawnSync('go', ['env', name], {
    encoding: 'utf8',
    env: environment as NodeJS.ProcessEnv,
  })
  if (result.error) {
    throw new Error(
      'Go is not installed (no "go" on PATH). Install it from go.dev/dl or your distribution, ' +
        'or use the download (without --build) or --dir DIR.',
    )
  }
  return result.stdout.trim()
}

function runGo(args: string[], environment: Environment, onChild: OnChild): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, {
      env: environment as NodeJS.ProcessEnv,
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: LIMIT_MS,
    })
    onChild(() => child.kill('SIGTERM'))
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (code === 0) return resolve()
      reject(
        new Error(
          `go ended with ${signal ?? `code ${code}`}; its own message stands above. It needs the Go ` +
            'module proxy and checksum database, about 2 GB of disk and the Go version of its go.mod.',
        ),
      )
    })
  })
}

/** Hands over a function that ends the running child. */
export type OnChild = (kill: () => void) => void

export interface BuildOptions {
  arch: Arch
  version: string
  environment: Environment
  workFolder: string
  progress: Progress
  onChild: OnChild
}

/** Builds Xray for Linux on `arch`. Throws with a plain reason when Go or the version is missing. */
export async function buildXray(options: BuildOptions): Promise<Binary> {
  const { arch, version, workFolder, progress } = options
  const moduleVersion = MODULE_VERSIONS.get(version)
  if (!moduleVersion) {
    throw new Error(
      `no module version is known for Xray ${version} (known: ${[...MODULE_VERSIONS.keys()].join(', ')}). ` +
        'Use the download or --dir DIR.',
    )
  }
  const environment: Environment = {
    ...options.environment,
    GOFLAGS: '-trimpath',
    CGO_ENABLED: '0',
    GOOS: 'linux',
    GOARCH: arch,
  }
  if (!environment.HOME) {
    environment.GOPATH ??= join(tmpdir(), 'subpanel-go')
    environment.GOCACHE ??= join(tmpdir(), 'subpanel-go-cache')
  }
  const goVersion = goSetting('GOVERSION', environment)
  progress(
    `  building ${MODULE}/main@${moduleVersion} for ${arch} with ${goVersion}: a minute or two`,
  )
  // `go install` refuses GOBIN for another architecture and uses GOPATH/bin/linux_ARCH instead.
  const folder = join(workFolder, `go-${arch}`)
  mkdirSync(folder)
  const native = arch === ownArch()
  if (native) environment.GOBIN = folder
  else {
    environment.GOMODCACHE = goSetting('GOMODCACHE', environment)
    environment.GOPATH = folder
    environment.GOBIN = ''
  }
  await runGo(
    ['install', '-ldflags=-s -w', `${MODULE}/main@${moduleVersion}`],
    environment,
    options.onChild,
  )
  const path = native ? join(folder, 'main') : join(folder, 'bin', `linux_${arch}`, 'main')
  return { core: 'xray', arch, version, content: readFileSync(path) }
}
