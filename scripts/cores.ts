/** `npm run cores`: brings the proxy cores into CORES_DIR/<arch>/ by download, by a build, or from files at hand. */
import { sep } from 'node:path'
import { parseArgs } from 'node:util'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { type Config, ConfigError, loadConfig } from '../src/config.ts'
import { ARCHS, type Arch } from '../src/lib/elf.ts'
import { buildXray } from './cores/build.ts'
import { readCoreFiles } from './cores/files.ts'
import { type Binary, CORES, installCore, openWorkFolder, ownArch } from './cores/install.ts'
import { checkAddress, fetchRelease } from './cores/releases.ts'
import { fetchRules, takeRules } from './cores/rules.ts'

const HELP = `Brings the proxy cores (Xray, Hysteria) into CORES_DIR/<arch>/, by default data/cores/<arch>/, and the rule
files of routing presets into CORES_DIR/rules/.

  npm run cores                     downloads the pinned releases and checks their digests
  npm run cores -- --build          builds Xray with Go from its module (no access to the releases needed)
  npm run cores -- --dir DIR        takes DIR/xray and DIR/hysteria, or DIR/<arch>/xray and so on, and DIR/rules/*.srs
  npm run cores -- --rules          brings the rule files alone

  --arch amd64|arm64|all   which machines: the download and --dir take both, --build this machine's own
  --force                  install although the program says it is another version than the pinned one
  --help                   this text

Settings: CORES_DIR, CORES_URL (where releases are downloaded from), XRAY_VERSION, HYSTERIA_VERSION.
XRAY_BIN and HYSTERIA_BIN name programs that exist already: those are run instead of the ones installed here.
Ends with 0 when everything asked for is in place (rule files beside the cores are a note only), with 1 and a reason otherwise.`

const say = (line: string) => console.log(line)

interface Options {
  mode: 'download' | 'build' | 'rules' | { dir: string }
  archs: readonly Arch[]
  force: boolean
}

function parseOptions(args: string[]): Options | null {
  const { values } = parseArgs({
    args,
    options: {
      build: { type: 'boolean', default: false },
      rules: { type: 'boolean', default: false },
      dir: { type: 'string' },
      arch: { type: 'string' },
      force: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  if (values.build && values.dir !== undefined)
    throw new Error('--build and --dir exclude each other')
  if (values.rules && (values.build || values.dir !== undefined))
    throw new Error('--rules stands alone: --dir DIR takes DIR/rules too')
  if (values.dir === '') throw new Error('--dir needs a folder')
  const mode = modeOf(values)
  return { mode, archs: chooseArchs(values.arch, mode === 'build'), force: values.force }
}

function modeOf(values: { build: boolean; rules: boolean; dir?: string | undefined }) {
  if (values.rules) return 'rules'
  if (values.build) return 'build'
  return values.dir === undefined ? 'download' : { dir: values.dir }
}

function chooseArchs(wanted: string | undefined, building: boolean): readonly Arch[] {
  const own = ownArch()
  // This machine's own first: what it needs itself is then there even when the rest fails.
  const all = [...ARCHS].sort((a, b) => Number(b === own) - Number(a === own))
  if (wanted === undefined && building) {
    if (!own) throw new Error('cores run on Linux (amd64, arm64) only: say --arch amd64 or arm64')
    return [own]
  }
  if (wanted === undefined || wanted === 'all') return all
  const arch = ARCHS.find((name) => name === wanted)
  if (!arch) throw new Error('--arch must be amd64, arm64 or all')
  return [arch]
}

async function bringCores(config: Config, options: Options): Promise<void> {
  const inDataDir = config.coresDir.startsWith(config.dataDir + sep)
  const folderMode = inDataDir ? 0o700 : 0o755
  const work = openWorkFolder(config.coresDir, folderMode)
  let killChild = () => {}
  const stop = (signal: NodeJS.Signals) => {
    killChild()
    work.clean()
    console.error(`cores: stopped by ${signal}`)
    process.exit(1)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const versions = { xray: config.xrayVersion, hysteria: config.hysteriaVersion }
  const install = (binary: Binary) =>
    installCore(binary, work.folder, {
      coresDir: config.coresDir,
      folderMode,
      force: options.force,
      progress: say,
    })
  const places = { coresDir: config.coresDir, workFolder: work.folder, folderMode }
  try {
    if (options.mode === 'rules') {
      checkAddress(config.coresUrl)
      await fetchRules(config.coresUrl, places, say)
    } else if (options.mode === 'build') {
      for (const arch of options.archs) {
        say(`xray ${versions.xray} (${arch})`)
        install(
          await buildXray({
            arch,
            version: versions.xray,
            environment: process.env,
            workFolder: work.folder,
            progress: say,
            onChild: (kill) => {
              killChild = kill
            },
          }),
        )
      }
      say('Hysteria is not built here (its module is incomplete): download it, or use --dir DIR.')
    } else if (options.mode === 'download') {
      checkAddress(config.coresUrl)
      for (const arch of options.archs) {
        for (const core of CORES) {
          say(`${core} ${versions[core]} (${arch})`)
          install(await fetchRelease(core, arch, config.coresUrl, versions[core], say))
        }
      }
      await fetchRules(config.coresUrl, places, say).catch(noteRules)
    } else {
      const { dir } = options.mode
      const hasRules = takeRules(dir, places, say) > 0
      for (const binary of readCoreFiles(dir, options.archs, versions, hasRules)) {
        say(`${binary.core} (${binary.arch}) from ${dir}`)
        install(binary)
      }
    }
  } finally {
    work.clean()
  }
}

/** The cores are in place, and do without. */
function noteRules(error: unknown): void {
  say(`Note: no rule files: ${(error as Error).message}`)
  say(
    'Routing presets (docs/lists.md) need them: npm run cores -- --rules, or --dir DIR with DIR/rules.',
  )
}

function mentionNamedCores(config: Config): void {
  const named = { XRAY_BIN: config.xrayBin, HYSTERIA_BIN: config.hysteriaBin }
  for (const [key, path] of Object.entries(named)) {
    if (path) say(`Note: ${key} is set, so ${path} is run and not the one installed here.`)
  }
}

try {
  const options = parseOptions(process.argv.slice(2))
  if (options) {
    const config = loadConfig(process.env, process.cwd(), GATEWAYS)
    await bringCores(config, options)
    mentionNamedCores(config)
  } else say(HELP)
} catch (error) {
  const { message, code } = error as NodeJS.ErrnoException
  const hint =
    code === 'EACCES' || code === 'EPERM' ? ' (run this as the user who owns DATA_DIR)' : ''
  console.error(`cores: ${message}${hint}`)
  if (String(code).startsWith('ERR_PARSE_ARGS')) console.error('cores: see --help')
  if (error instanceof ConfigError) console.error('cores: correct this setting first')
  process.exitCode = 1
}
