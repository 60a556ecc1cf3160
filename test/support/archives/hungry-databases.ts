/** Databases that would have a restore take far more memory than they have bytes, each made from a sound one by SQL. */
import { changedDatabase } from './archives.ts'

/** A table `n` with the numbers from 1. */
const numbers = (count: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`

const list = (count: number, one: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => one(i))

/** An index of as many columns as there can be, and statistics that ANALYZE has made. */
const WIDE = `CREATE TABLE wide (a); CREATE INDEX widest ON wide (${list(2000, () => 'a').join()});
  INSERT INTO wide VALUES (1); ANALYZE; DELETE FROM sqlite_stat4;`

/** Rows that each take 48 kB as samples of that index. */
const samples = (table: string) =>
  `${numbers(10_000)} INSERT INTO ${table} (idx) SELECT 'widest' FROM n;`

/** `message`: of the refusal; null where the database is restored all the same. */
export const HUNGRY_DATABASES: [
  name: string,
  make: (database: Uint8Array) => Buffer,
  message: RegExp | null,
][] = [
  [
    '10,000 samples of an index with 2000 columns',
    (database) => changedDatabase(database, WIDE + samples('sqlite_stat4')),
    null,
  ],
  [
    'the same samples in an index of the samples',
    (database) =>
      changedDatabase(
        database,
        `${WIDE} CREATE TABLE fake (tbl, idx, neq, nlt, ndlt, sample); CREATE INDEX by_idx ON fake (idx COLLATE nocase);
         ${samples('fake')} PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET tbl_name = 'sqlite_stat4', sql = 'CREATE INDEX by_idx ON sqlite_stat4 (idx COLLATE nocase)'
           WHERE name = 'by_idx';
         DELETE FROM sqlite_schema WHERE name = 'fake'`,
      ),
    null,
  ],
  [
    'a migration whose time is a text of 100 MB',
    (database) =>
      changedDatabase(
        database,
        "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', CAST(zeroblob(100000000) AS TEXT))",
      ),
    /not one of Subpanel/,
  ],
  [
    '300,000 rows that point nowhere',
    (database) =>
      changedDatabase(
        database,
        `${numbers(300_000)} INSERT INTO devices (tg_id, hwid, created_at, last_seen_at)
           SELECT i, 'hhhhhhhhhh', '2026-01-01T00:00:00', '2026-01-01T00:00:00' FROM n`,
      ),
    /damaged/,
  ],
  [
    '2000 settings',
    (database) =>
      changedDatabase(
        database,
        `${numbers(2000)} INSERT INTO settings SELECT 'key' || i, '' FROM n`,
      ),
    /more than 1000 rows in settings/,
  ],
  [
    '200 settings of 1 MB',
    (database) =>
      changedDatabase(
        database,
        `${numbers(200)} INSERT INTO settings SELECT 'key' || i, CAST(zeroblob(1000000) AS TEXT) FROM n`,
      ),
    /settings in the backup are too long/,
  ],
]
