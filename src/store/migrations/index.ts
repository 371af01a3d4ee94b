/** The tables, as numbered steps that never change once released. One text for every engine; times are ms since 1970. */
import { accounts } from './01-accounts.ts'
import { agents } from './02-agents.ts'
import { tasks } from './03-tasks.ts'
import { ledger } from './04-ledger.ts'
import { outbox } from './05-outbox.ts'
import { samples } from './06-samples.ts'
import { notifications } from './07-notifications.ts'
import { redeliveries } from './08-redeliveries.ts'
import { files } from './10-files.ts'
import { budgets } from './20-budgets.ts'
import { idempotencyKeys } from './30-idempotency-keys.ts'
import { mails } from './31-mails.ts'
import { queues } from './40-queues.ts'
import { rateWindows } from './50-rate-windows.ts'
import { due } from './60-due.ts'
import { uploads } from './70-uploads.ts'
import { narrowIndexes } from './80-narrow-indexes.ts'
import { filePlaces } from './90-file-places.ts'
import { lists } from './100-lists.ts'
import { places } from './110-places.ts'
import { endedTests } from './130-ended-tests.ts'
import { search } from './140-search.ts'
import { deliverablePlaces } from './141-deliverable-places.ts'
import { retention } from './142-retention.ts'
import { fileUsage } from './143-file-usage.ts'
import { jobRetries } from './150-job-retries.ts'
import { sessions } from './160-sessions.ts'
import { secondFactors } from './161-second-factors.ts'
import { guesses } from './162-guesses.ts'
import { resetLetters } from './163-reset-letters.ts'
import { securityNotices } from './164-security-notices.ts'
import { textUsage } from './170-text-usage.ts'
import { idempotencyUsage } from './171-idempotency-usage.ts'

export const migrations = [
  { id: 1, name: 'accounts', sql: accounts },
  { id: 2, name: 'agents', sql: agents },
  { id: 3, name: 'tasks', sql: tasks },
  { id: 4, name: 'ledger', sql: ledger },
  { id: 5, name: 'outbox', sql: outbox },
  { id: 6, name: 'samples', sql: samples },
  { id: 7, name: 'notifications', sql: notifications },
  { id: 8, name: 'redeliveries', sql: redeliveries },
  { id: 10, name: 'files', sql: files },
  { id: 20, name: 'budgets', sql: budgets },
  { id: 30, name: 'idempotency keys', sql: idempotencyKeys },
  { id: 31, name: 'mails', sql: mails },
  { id: 40, name: 'queues', sql: queues },
  { id: 50, name: 'rate windows', sql: rateWindows },
  { id: 60, name: 'due', sql: due },
  { id: 70, name: 'uploads', sql: uploads },
  { id: 80, name: 'narrow indexes', sql: narrowIndexes },
  { id: 90, name: 'file places', sql: filePlaces },
  { id: 100, name: 'lists', sql: lists },
  { id: 110, name: 'places', sql: places },
  { id: 130, name: 'ended tests', sql: endedTests },
  { id: 140, name: 'search', sql: search },
  { id: 141, name: 'deliverable places', sql: deliverablePlaces },
  { id: 142, name: 'retention', sql: retention },
  { id: 143, name: 'file usage', sql: fileUsage },
  { id: 150, name: 'job retries', sql: jobRetries },
  { id: 160, name: 'sessions', sql: sessions },
  { id: 161, name: 'second factors', sql: secondFactors },
  { id: 162, name: 'guesses', sql: guesses },
  { id: 163, name: 'reset letters', sql: resetLetters },
  { id: 164, name: 'security notices', sql: securityNotices },
  { id: 170, name: 'text usage', sql: textUsage },
  { id: 171, name: 'idempotency usage', sql: idempotencyUsage },
] as const
