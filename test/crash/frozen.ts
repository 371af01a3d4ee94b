/**
 * One of three instances is stopped amid a transaction that holds a row, with others of it in line for the same row, and with
 * webhooks in hand: surely, not by luck.
 */
import * as assert from 'uvu/assert'
import { until } from '../support/patience.ts'
import { Caller, Cut } from './caller.ts'
import type { Fleet } from './fleet.ts'
import { create, sendStep } from './load.ts'
import { type Job, newBuyer, PASSWORD, type Scenario } from './scenario.ts'

export interface Frozen {
  /** By the clock of the machine. */
  at: number
  /** Resolves when the requests have ended that it was stopped amid, some time after it goes on. */
  ended: Promise<unknown>
}

/** Stops the first one, and sends another one a request that needs the row which it holds. */
export async function freezeAmidWrite(fleet: Fleet, scenario: Scenario): Promise<Frozen> {
  const { db } = fleet
  const [frozen, well] = [new Caller(fleet.urls[0]!), new Caller(fleet.urls[1]!)]
  const body = { email: newBuyer().email, password: PASSWORD, name: 'A Freezer' }
  await well.call('POST', '/api/auth/register', body)
  frozen.credential = well.credential
  const job = await create(scenario, well, newBuyer())
  // Each has some in hand at every moment while the agent is slow.
  scenario.agent.delayMs = 500
  await until('webhooks in the hands of all', () => allHaveWebhooks(fleet))
  let ended: Promise<unknown> | undefined
  let blocked: Backend | undefined
  await db.write(async tx => {
    await tx.lock('tasks', job.id!)
    const { pid } = (await tx.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))!
    const line = ['amid the freeze', 'next in line', 'last in line']
    ended = Promise.all(line.map(title => rename(scenario, frozen, job, title))).finally(() => frozen.close())
    await until('the line for the row', async () => {
      blocked = await backend(fleet, '$1 = ANY(pg_blocking_pids(pid))', pid)
      return blocked && (await backend(fleet, '$1 = ANY(pg_blocking_pids(pid))', blocked.pid))?.line === line.length - 1
    })
    fleet.signal(0, 'SIGSTOP')
  })
  const at = Date.now()
  scenario.agent.delayMs = 0
  // The row is free now, and the server gives it to the one that is stopped.
  await until('the row in its hand', async () => {
    const held = await backend(fleet, 'pid = $1', blocked!.pid)
    assert.ok(held, 'its connection is open')
    return held.state === 'idle in transaction' && held.holds
  })
  const from = performance.now()
  await rename(scenario, well, job, 'after the freeze')
  fleet.asked.push({ target: fleet.urls[1]!, from, to: performance.now(), isAnswered: true })
  assert.is(await backend(fleet, 'pid = $1', blocked!.pid), undefined, 'the server has ended its transaction')
  well.close()
  return { at, ended: ended! }
}

interface Backend {
  pid: number
  state: string
  /** Whether its transaction has locked or changed a row. */
  holds: boolean
  /** How many there are. */
  line: number
}

const backend = ({ db }: Fleet, which: string, value: number) =>
  db.read(q =>
    q.get<Backend>(
      `SELECT pid, state, backend_xid IS NOT NULL AS holds, COUNT(*) OVER () AS line FROM pg_stat_activity WHERE ${which}`,
      [value],
    ),
  )

const allHaveWebhooks = async ({ db, urls }: Fleet) => {
  const sql = `SELECT COUNT(DISTINCT s.id) AS count FROM senders s JOIN deliveries d ON d.sender = s.id
    WHERE d.state = 'pending' AND d.leased_until > 0`
  return (await db.read(q => q.get<{ count: number }>(sql)))!.count === urls.length
}

const rename = (scenario: Scenario, caller: Caller, job: Job, title: string) =>
  sendStep(scenario, job, { trigger: 'update', by: 'buyer', note: title }, () =>
    caller.send('PUT', { path: `/api/tasks/${job.id}`, body: { title } }),
  ).catch(error => {
    if (!(error instanceof Cut)) throw error
  })

/** Resolves when all that was written by then has been told, to how long that took. */
export async function toldSince(fleet: Fleet, at: number): Promise<number> {
  const sql = `SELECT COUNT(*) AS count FROM deliveries WHERE created_at <= $1 AND ended_at IS NULL`
  await until(
    'webhooks of the one that stands still',
    async () => (await fleet.db.read(q => q.get<{ count: number }>(sql, [at])))!.count === 0,
  )
  return Date.now() - at
}
