/** A copy of the program with one more migration than this one: what the next release is to it. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Area, ROOT } from './process.ts'

/** Its statements by their folder, that of an engine, under db. */
type Migrations = { [folder in 'migrations' | 'migrations-postgres']?: string[] }

/** Gives the folder of the copy. */
export function nextVersion(a: Area, migrations: Migrations): string {
  const root = join(a.dir, 'next')
  mkdirSync(root)
  for (const name of ['src', 'db', 'templates', 'scripts', 'package.json'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true })
  for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(root, name))
  for (const [folder, statements] of Object.entries(migrations)) {
    const own = join(root, 'db', folder)
    const file = join(own, 'meta/_journal.json')
    const journal = JSON.parse(readFileSync(file, 'utf8'))
    const last = journal.entries.at(-1)
    journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1000, tag: '9999_test' })
    writeFileSync(file, JSON.stringify(journal))
    writeFileSync(join(own, '9999_test.sql'), statements.join(';\n--> statement-breakpoint\n'))
  }
  return root
}
