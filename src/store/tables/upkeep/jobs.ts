/** Jobs that run again and again: when each is due next, and until when one instance has leased it. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, defaulted, integer, table, text } from '../table.ts'

export const jobs = table('jobs', {
  name: text(),
  /** Domain time. */
  nextAt: bigint(),
  /** Real time. */
  leasedUntil: defaulted(bigint()),
  /** How many runs in a row failed for a reason of our own. */
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

/** Claims a due job for the length of a lease. Returns when it was due, and how many runs in a row have failed. */
export const claimJob = (tx: Tx, claim: { name: string; now: number; realNow: number; leasedUntil: number }) =>
  tx.get<{ dueAt: number; retries: number }>(
    `UPDATE jobs SET leased_until = $4 WHERE name = $1 AND next_at <= $2 AND leased_until <= $3
     RETURNING next_at AS "dueAt", retries`,
    [claim.name, claim.now, claim.realNow, claim.leasedUntil],
  )

/** Ends the lease of a job, which is due next at `nextAt`. Changes nothing if another instance has claimed it by now. */
export const endJob = (tx: Tx, name: string, leasedUntil: number, nextAt: number, retries = 0) =>
  jobs.update(tx, { name, leasedUntil }, { nextAt, leasedUntil: 0, retries })

/** Ends the leases of a dead process. Only for an engine that one process has at a time. */
export const releaseJobs = (tx: Tx) => tx.run('UPDATE jobs SET leased_until = 0 WHERE leased_until > 0')
