/** The passphrase of an encrypted backup, as the operator's commands get it. */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { type Config, ConfigError } from '#src/config.ts'

/** A line that is typed and not shown. */
async function ask(question: string): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  // Before the question: what is typed at once is not shown either.
  const line = createInterface({ input: process.stdin, output, terminal: true })
  process.stderr.write(question)
  const ended = new AbortController()
  line.once('close', () => ended.abort())
  try {
    return await line.question('', { signal: ended.signal })
  } catch {
    throw new ConfigError('no passphrase was given')
  } finally {
    line.close()
    process.stderr.write('\n')
  }
}

async function readTerminal(isNew: boolean): Promise<string> {
  const passphrase = await ask('Passphrase: ')
  if (isNew && (await ask('Once more: ')) !== passphrase)
    throw new ConfigError('these were two different passphrases')
  return passphrase
}

/** The first line of stdin; empty when there is none. */
async function readStdin(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line
  return ''
}

function readPassphraseFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/, 1)[0] as string
  } catch (error) {
    throw new ConfigError(`BACKUP_PASSPHRASE_FILE can't be read: ${(error as Error).message}`)
  }
}

/**
 * The first line of the file that BACKUP_PASSPHRASE_FILE names, else what is typed at the terminal (twice where it `isNew`), else the
 * first line of stdin. Throws ConfigError when there is none.
 */
export async function readPassphrase(
  config: Pick<Config, 'backupPassphraseFile'>,
  { isNew }: { isNew: boolean },
): Promise<string> {
  const { backupPassphraseFile: file } = config
  if (file === '' && process.stdin.isTTY) return readTerminal(isNew)
  const passphrase = file === '' ? await readStdin() : readPassphraseFile(file)
  if (passphrase === '') {
    throw new ConfigError(
      'no passphrase was given: it is typed at a terminal, or the first line of stdin or of the file BACKUP_PASSPHRASE_FILE',
    )
  }
  return passphrase
}
