/** `npm run release`: this version as one archive with panel and pages built in it, so that a server needs no tools to build one. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { ConfigError } from '#src/config.ts'
import {
  builtStamp,
  ensureBuild,
  PAGES_FOLDER,
  PANEL_FOLDER,
  sourcesStamp,
} from '#src/integrations/browser-build.ts'
import { systemClock } from '#src/lib/clock.ts'
import { formatBytes } from '#src/lib/format.ts'
import { createLog } from '#src/lib/log.ts'
import { readArguments, runCommand } from './operator.ts'

const USAGE = `usage: npm run release [-- FOLDER]
  FOLDER   where subpanel-VERSION.tar.gz goes; by default this one
Packs the files that git does not ignore and the build. The same commit gives the same archive. Needs git, GNU tar and gzip.
`

const ROOT = join(import.meta.dirname, '..')

function git(...args: string[]): string {
  try {
    return execFileSync('git', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    throw new ConfigError('a release is made in a clone of the repository, with git')
  }
}

/** The files of the build as they are named from the project's folder. */
const filesOfBuild = () =>
  [PANEL_FOLDER, PAGES_FOLDER]
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))

/** A file and the folders that it is in: listed too, so that their rights do not depend on who unpacks. */
const withFolders = (path: string): string[] =>
  path === '.' ? [path] : [...withFolders(dirname(path)), path]

/** Writes files of the project to an archive, all below one folder, owned by root and readable by everybody. */
function pack(files: string[], folder: string, path: string): void {
  const paths = [...new Set(files.flatMap(withFolders))].sort()
  execFileSync(
    'tar',
    [
      ...['--create', `--file=${path}`, '--use-compress-program=gzip -9n'],
      ...['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'],
      ...[`--mtime=@${git('log', '-1', '--format=%ct').trim()}`, `--transform=s,^\\.,${folder},S`],
      ...['--no-recursion', '--null', '--files-from=-'],
    ],
    {
      cwd: ROOT,
      input: paths.map((one) => (one === '.' ? one : `./${one}`)).join('\0'),
      stdio: ['pipe', 'ignore', 'inherit'],
    },
  )
}

await runCommand(async () => {
  const { word = '.' } = readArguments(USAGE)
  // Nothing in it is a secret.
  process.umask(0o022)
  const log = createLog('info', systemClock.now, (line) => process.stderr.write(`${line}\n`))
  // What is not committed goes along, as it does into the build.
  const known = git('ls-files', '-z', '--cached', '--others', '--exclude-standard')
    .split('\0')
    .filter((name) => name !== '' && existsSync(join(ROOT, name)))
  if (git('status', '--porcelain') !== '') log.warn('it has changes that are not committed')
  await ensureBuild(log)
  if (builtStamp() !== sourcesStamp()) throw new ConfigError('a release needs the build')
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const folder = `subpanel-${version}`
  const path = resolve(word, `${folder}.tar.gz`)
  const part = `${path}.part`
  try {
    pack([...known, ...filesOfBuild()], folder, part)
    renameSync(part, path)
  } finally {
    rmSync(part, { force: true })
  }
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
  process.stdout.write(`${path}, ${formatBytes(statSync(path).size)}\n`)
  process.stdout.write(`${digest}  ${basename(path)}\n`)
  return 0
})
