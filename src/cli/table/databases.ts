/** Commands that look after a database: check, snapshot, back up, migrate, copy. */
import type { CommandRecord } from '../command-line/command.ts'
import type { CopyFlags, FilesFlags } from '../commands/db.ts'
import { exitCodes } from '../exit-codes.ts'
import type { AnswerFlags } from '../output/output.ts'

const filesOptions = [
  ['--files <folder>', 'the delivered files; <file>.files unless given'],
  ['--no-files', 'leave them out: they are kept in a bucket'],
] as const

export const databases: readonly CommandRecord[] = [
  {
    name: 'db check',
    takes: ['<file>'],
    summary: 'Verify a database that nobody uses; changes nothing',
    notes: `Exit code ${exitCodes.check}: it is not whole. ${exitCodes.failed}: it is in use, or not there.`,
    options: [...filesOptions, ['--json', 'print one JSON object']],
    examples: ['marketplace db check marketplace.db', 'marketplace db check .marketplace/dev.db --json'],
    run: async ([file = ''], flags: FilesFlags) => (await import('../commands/db.ts')).check(file, flags),
  },
  {
    name: 'db snapshot',
    takes: ['<file>'],
    summary: 'Fold the journals into one file, to be copied alone',
    options: [['--json', 'print one JSON object']],
    examples: ['marketplace db snapshot marketplace.db', 'marketplace db snapshot .marketplace/dev.db --json'],
    run: async ([file = ''], flags: AnswerFlags) => (await import('../commands/db.ts')).snapshot(file, flags),
  },
  {
    name: 'db backup',
    takes: ['<file>', '<to>'],
    summary: 'Copy a database as of now, also while a server uses it',
    notes: `One that was cut off is made again under the same name. To restore it, stop the server, move the old database and its files away, and give the copy their names, its .files beside it, with the key. Exit code ${exitCodes.check}: a delivered file was missing.`,
    options: [...filesOptions, ['--json', 'print one JSON object']],
    examples: [
      'marketplace db backup marketplace.db copy.db',
      'marketplace db backup marketplace.db /backups/monday.db --json',
    ],
    run: async ([file = '', to = ''], flags: FilesFlags) => (await import('../commands/db.ts')).backup(file, to, flags),
  },
  {
    name: 'db migrate',
    takes: ['<database>'],
    summary: 'Bring a database up to this version, as each start does',
    options: [['--json', 'print one JSON object']],
    notes: 'It makes a file that is not there.',
    examples: ['marketplace db migrate marketplace.db', 'marketplace db migrate postgres://market@db.example/market'],
    run: async ([db = ''], flags: AnswerFlags) => (await import('../commands/db.ts')).migrateDatabase(db, flags),
  },
  {
    name: 'db copy',
    takes: [],
    summary: 'Move a file that nobody uses to an empty Postgres',
    options: [
      ['--from <file>', 'the database file; it is left as it is'],
      ['--to <url>', 'postgres://user:password@host/name'],
      ['--json', 'print one JSON object'],
    ],
    notes: 'All of it or nothing is copied.',
    examples: [
      'marketplace db copy --from marketplace.db --to postgres://market@db.example/market',
      'marketplace db copy --from marketplace.db --to postgres://market@db.example/market --json',
    ],
    run: async (_, flags: CopyFlags) => (await import('../commands/db.ts')).copy(flags),
  },
]
