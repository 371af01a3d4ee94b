/** `marketplace db check`, `snapshot`, `backup`, `migrate` and `copy`: maintenance of a database. */
import { existsSync } from 'node:fs'
import { ledgerProblems } from '../../market/money/ledger.ts'
import { UsageError } from '../../settings/config.ts'
import { type Database, databaseNamed, nameOf } from '../../settings/values.ts'
import type { SomeNames } from '../../shared/some-names.ts'
import { type Counts, copyAll } from '../../store/copy.ts'
import { type Db, type Reader, StoreError } from '../../store/db.ts'
import { backupFile, partialPath } from '../../store/embedded/backup.ts'
import { journalPath, sealedPath } from '../../store/embedded/journal.ts'
import { checkFile, snapshotFile } from '../../store/embedded/verify.ts'
import { type Comparison, compareFiles } from '../../store/files/compare.ts'
import { migrate, proveMigrated } from '../../store/migrate.ts'
import { migrations } from '../../store/migrations/index.ts'
import { openDatabase } from '../../store/open.ts'
import { allFiles, uploadIds } from '../../store/tables/tasks/deliverables.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { noteBackup } from '../doctor/deployment.ts'
import { exitCodes } from '../exit-codes.ts'
import { endAfterDiskFailure } from '../output/disk-faults.ts'
import { createUi } from '../output/ui.ts'

interface Flags {
  json?: boolean
}

export interface FilesFlags extends Flags {
  /** False: they are kept elsewhere. */
  files?: string | false
}

/** The folder of delivered files, unless they are kept elsewhere. */
const folderOf = (file: string, { files }: FilesFlags) => (files === false ? null : (files ?? `${file}.files`))

/** Exits with 0 if the file, its journals, ledger and files are intact, with 3 if not, and with 1 if they can't be checked. */
export async function check(file: string, flags: FilesFlags): Promise<number> {
  refuseMissing(file)
  const ui = createUi()
  const { db, ok, problems, snapshotSeq, journalRecords, tornBytes } = await checkFile(file)
  const ledger = db && ok ? await ledgerProblems(db) : null
  const folder = folderOf(file, flags)
  const files = db && ok && folder !== null ? await compareFiles(folder, allFiles(db), await uploadIds(db)) : null
  const all = [...problems, ...(ledger?.problems ?? []), ...(files ? fileProblems(files, folder!) : [])]
  const whole = ok && all.length === 0
  if (flags.json) {
    ui.json({ ok: whole, file, snapshotSeq, journalRecords, tornBytes, ledger, files, problems: all })
    return whole ? exitCodes.ok : exitCodes.check
  }
  for (const problem of all) ui.line(ui.colour.red(problem))
  if (tornBytes > 0)
    ui.line(`The journal ends in ${tornBytes} bytes of a write that was never acknowledged; a start cuts them off.`)
  if (ledger)
    ui.line(`${ledger.accounts} ledger accounts, ${ledger.entries} entries, ${journalRecords} journal records.`)
  if (files)
    ui.line(
      `${files.named} delivered files; ${files.leftOver.count} others are in ${folder}${namesIn(files.leftOver)}.`,
    )
  ui.line(whole ? ui.colour.green(`${file} is whole.`) : ui.colour.red(`${file} is not whole.`))
  return whole ? exitCodes.ok : exitCodes.check
}

function fileProblems({ named, missing, otherSize }: Comparison, folder: string): string[] {
  return [
    ...(missing.count > 0 ? [missingIn(folder, missing, named)] : []),
    ...(otherSize.count > 0
      ? [
          `${otherSize.count} of ${named} delivered files in ${folder} have another size than their rows say${namesIn(otherSize)}`,
        ]
      : []),
  ]
}

const missingIn = (folder: string, missing: SomeNames, named: number) =>
  `${missing.count} of ${named} delivered files are missing in ${folder}${namesIn(missing)}. ` +
  'If they are kept elsewhere: --files FOLDER, or --no-files for a bucket'

const namesIn = ({ count, names }: SomeNames) =>
  count === 0 ? '' : `: ${names.join(', ')}${count > names.length ? ' …' : ''}`

export async function snapshot(file: string, flags: Flags): Promise<number> {
  refuseMissing(file)
  await snapshotFile(file)
  const ui = createUi()
  if (flags.json) ui.json({ ok: true, file })
  else ui.line(`${file} now holds everything and can be copied alone.`)
  return 0
}

/** Takes no lock, so a server may go on. Exits with 3 if a file is missing that a row names: what is there is copied all the same. */
export async function backup(file: string, to: string, flags: FilesFlags): Promise<number> {
  refuseMissing(file)
  const folder = folderOf(file, flags)
  const named = async function* (q: Reader) {
    for await (const { id } of allFiles(q)) yield id
  }
  const { bytes, files, missing } = await backupFile(file, to, folder === null ? null : { folder, named })
  noteBackup(file, to, Date.now())
  const ui = createUi()
  const whole = missing.count === 0
  if (flags.json) ui.json({ ok: whole, file, to, bytes, files, missing })
  else {
    ui.line(`${to} holds ${file} as of now (${bytes} bytes); ${files} delivered files are in ${to}.files.`)
    ui.line(`The key of its webhook secrets is not in it: keep ${file}.key apart, and beside the copy to use it.`)
    if (!whole) ui.line(ui.colour.red(`${missingIn(folder!, missing, files + missing.count)}.`))
  }
  return whole ? exitCodes.ok : exitCodes.check
}

/** Migrates before a start would, so that a deployment that fails here has changed nothing else. */
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

export interface CopyFlags extends Flags {
  from?: string
  to?: string
}

/** Copies a database to Postgres: all tables or none. The ledger is checked on both sides. */
export async function copy({ from, to, json }: CopyFlags): Promise<number> {
  if (!from || !to) throw new UsageError('db copy needs both: --from marketplace.db --to postgres://user@host/name')
  refuseMissing(from)
  const target = databaseNamed(to)
  if (!target.postgres) throw new UsageError(`--to takes postgres://user:password@host/name, not ${to}.`)
  const source = await openDatabase({ file: from, holder: 'marketplace db copy', onFatal: endAfterDiskFailure })
  let counts: Counts
  try {
    counts = await copyInto(source, target, from)
  } finally {
    await source.close()
  }
  const name = nameOf(target)
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const ui = createUi()
  if (json) ui.json({ ok: true, from, to: name, rows, tables: counts })
  else {
    ui.line(`${name} holds everything of ${from}: ${rows} rows; the ledger is in order on both sides.`)
    ui.line(`Delivered files stay where they are: give serve --files ${from}.files, or move that folder.`)
    ui.line(`Webhook secrets need the same key: set MARKETPLACE_SECRET_KEY to what ${from}.key holds.`)
  }
  return 0
}

async function copyInto(source: Db, target: Database, from: string): Promise<Counts> {
  await proveMigrated(source, migrations)
  await source.read(q => proveLedger(q, from))
  const db = await openDatabase({ ...target, onFatal: endAfterDiskFailure })
  try {
    await migrate(db, migrations, Date.now)
    return await copyAll(source, db, tx => proveLedger(tx, 'the copy'))
  } finally {
    await db.close()
  }
}

async function proveLedger(q: Reader, of: string): Promise<void> {
  const { problems } = await ledgerProblems(q)
  if (problems.length > 0) throw new StoreError(`The ledger of ${of} is not in order:\n${problems.join('\n')}`)
}

function refuseMissing(file: string): void {
  if (databaseNamed(file).postgres)
    throw new UsageError('This command works on a file; Postgres has its own tools: pg_dump -Fc makes a backup.')
  if ([file, journalPath(file), sealedPath(file)].some(existsSync)) return
  if (existsSync(partialPath(file)))
    throw new StoreError(
      `${file} is a backup that was cut off. Make it again: ${nextSteps.backup(file)}, where FILE is the database.`,
    )
  throw new StoreError(`There is no database at ${file}.`)
}
