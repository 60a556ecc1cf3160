/** The program of docs/backup.md, which reads encrypted files and knows nothing of ours. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder } from './archives.ts'

/** What an encrypted file holds. Throws when the program refuses it. */
export function decryptByDocs(file: Uint8Array, passphrase: string): Buffer {
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/backup.md'), 'utf8')
  const program = /```js\n([\s\S]*?)```/.exec(docs)?.[1] as string
  return inFolder((folder) => {
    const [script, source, target] = ['decrypt.mjs', 'source', 'target'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    writeFileSync(script, program)
    writeFileSync(source, file)
    const options = { input: `${passphrase}\n`, stdio: 'pipe' } as const
    execFileSync(process.execPath, [script, source, target], options)
    return readFileSync(target)
  })
}
