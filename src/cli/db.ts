/** `marketplace db check`, `snapshot`, `backup` and `migrate`: care for a database file. */
import { existsSync } from 'node:fs'
import { databaseNamed, nameOf, UsageError } from '../config.ts'
import { ledgerProblems } from '../market/ledger.ts'
import { backupFile } from '../store/backup.ts'
import { checkFile, snapshotFile } from '../store/check.ts'
import { openDatabase } from '../store/database.ts'
import { StoreError } from '../store/db.ts'
import { journalPath, sealedPath } from '../store/journal.ts'
import { migrate } from '../store/migrate.ts'
import { migrations } from '../store/migrations/index.ts'
import { endAfterDiskFailure } from './running.ts'
import { createUi } from './ui.ts'

interface Flags {
  json?: boolean
}

/** 0 if the file, its journals and the money in it are whole, else 1. */
export async function check(file: string, flags: Flags): Promise<number> {
  refuseMissing(file)
  const ui = createUi()
  const { db, ok, problems, snapshotSeq, journalRecords, tornBytes } = await checkFile(file)
  const ledger = db && ok ? await ledgerProblems(db) : null
  const all = [...problems, ...(ledger?.problems ?? [])]
  const whole = ok && ledger?.ok === true
  if (flags.json) {
    ui.json({ ok: whole, file, snapshotSeq, journalRecords, tornBytes, ledger, problems: all })
    return whole ? 0 : 1
  }
  for (const problem of all) ui.line(ui.colour.red(problem))
  if (tornBytes > 0)
    ui.line(`The journal ends in ${tornBytes} bytes of a write that nobody was told of; a start cuts them off.`)
  if (ledger)
    ui.line(`${ledger.accounts} ledger accounts, ${ledger.entries} entries, ${journalRecords} journal records.`)
  ui.line(whole ? ui.colour.green(`${file} is whole.`) : ui.colour.red(`${file} is not whole.`))
  return whole ? 0 : 1
}

export async function snapshot(file: string, flags: Flags): Promise<number> {
  refuseMissing(file)
  await snapshotFile(file)
  const ui = createUi()
  if (flags.json) ui.json({ ok: true, file })
  else ui.line(`${file} now holds everything and can be copied alone.`)
  return 0
}

/** Takes no lock: the server goes on. */
export async function backup(file: string, to: string, flags: Flags): Promise<number> {
  refuseMissing(file)
  const { bytes, files } = await backupFile(file, to)
  const ui = createUi()
  if (flags.json) ui.json({ ok: true, file, to, bytes, files })
  else {
    ui.line(`${to} holds ${file} as of now (${bytes} bytes); ${files} delivered files are in ${to}.files.`)
    ui.line(`The key of its webhook secrets is not in it: keep ${file}.key apart, and beside the copy to use it.`)
  }
  return 0
}

/** What each start does, done beforehand: a deployment that fails here has touched nothing else. */
export async function migrateDatabase(named: string, flags: Flags): Promise<number> {
  const database = databaseNamed(named)
  const db = await openDatabase({ ...database, holder: 'marketplace db migrate', onFatal: endAfterDiskFailure })
  const name = nameOf(database)
  let applied: string[]
  try {
    applied = await migrate(db, migrations, Date.now)
  } finally {
    await db.close()
  }
  const ui = createUi()
  if (flags.json) ui.json({ ok: true, db: name, applied })
  else if (applied.length === 0) ui.line(`${name} is up to date.`)
  else ui.line(`${name} is up to date; applied: ${applied.join(', ')}.`)
  return 0
}

function refuseMissing(file: string): void {
  if (databaseNamed(file).postgres) throw new UsageError('This command works on a file; Postgres has its own tools.')
  if ([file, journalPath(file), sealedPath(file)].some(existsSync)) return
  throw new StoreError(`There is no database at ${file}.`)
}
