/** Work that comes back by the clock: when it is due next, and who has it in hand, as rows. */
import type { Reader, Tx } from '../db.ts'
import { bigint, defaulted, integer, table, text } from './table.ts'

export const jobs = table('jobs', {
  name: text(),
  /** Domain time. */
  nextAt: bigint(),
  /** Real time. */
  leasedUntil: defaulted(bigint()),
  /** How often in a row it was taken up again, as what it had to do could not be done for a reason of our own. */
  retries: defaulted(integer()),
})

/** Changes nothing if the job is there. `nextAt` is domain time. */
export const ensureJob = (tx: Tx, name: string, nextAt: number) =>
  jobs.insert(tx, { name, nextAt }, 'ON CONFLICT (name) DO NOTHING')

/** `now` is domain time, `realNow` the machine's. */
export const isJobDue = async (q: Reader, name: string, now: number, realNow: number) =>
  (await q.get('SELECT name FROM jobs WHERE name = $1 AND next_at <= $2 AND leased_until <= $3', [
    name,
    now,
    realNow,
  ])) !== undefined

/** Takes a due job for the length of a lease. Returns when it was due, and how often in a row it has been taken up again. */
export const claimJob = (tx: Tx, claim: { name: string; now: number; realNow: number; leasedUntil: number }) =>
  tx.get<{ dueAt: number; retries: number }>(
    `UPDATE jobs SET leased_until = $4 WHERE name = $1 AND next_at <= $2 AND leased_until <= $3
     RETURNING next_at AS "dueAt", retries`,
    [claim.name, claim.now, claim.realNow, claim.leasedUntil],
  )

/** Gives a job back until `nextAt`. Changes nothing if another has it in hand by now. */
export const endJob = (tx: Tx, name: string, leasedUntil: number, nextAt: number, retries = 0) =>
  jobs.update(tx, { name, leasedUntil }, { nextAt, leasedUntil: 0, retries })

/** What a dead process had in hand is free again. For an engine that only one process can hold. */
export const releaseJobs = (tx: Tx) => tx.run('UPDATE jobs SET leased_until = 0 WHERE leased_until > 0')
