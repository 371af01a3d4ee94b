/** The peer of submits on Postgres: pgbench, which runs them as one script against the same server. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Draft } from './many-buyers.ts'

const SCRIPT = fileURLToPath(new URL('submit.pgbench.sql', import.meta.url))
// Where the script of each client begins to count.
const STRIDE = 1_000_000

const TABLE = `DROP TABLE IF EXISTS pgbench_submits;
CREATE TABLE pgbench_submits (n BIGINT PRIMARY KEY, task_id TEXT COLLATE "C", key_hash TEXT COLLATE "C",
  transfer_id TEXT COLLATE "C", delivery_id TEXT COLLATE "C", body TEXT, now BIGINT);`

const INSERT = `INSERT INTO pgbench_submits
  SELECT n, task, hash, 'trf_' || substr(task, 6), 'dlv_' || substr(task, 6), $4, $5
  FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given (n, task, hash)`

/** As long as a real one. */
const body = JSON.stringify({ event: 'task.submitted', data: 'x'.repeat(620) })

/** A connection for as long as `work` takes. */
export async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Submits each of these drafts once, by so many clients; answers how many a second. */
export const pgbenchSubmits = (url: string, program: string, drafts: readonly Draft[], clients: number) =>
  connected(url, async client => {
    const each = Math.floor(drafts.length / clients)
    const used = drafts.slice(0, each * clients)
    await client.query(TABLE)
    const places = used.map((_, i) => (i % clients) * STRIDE + Math.floor(i / clients) + 1)
    const hashes = used.map(({ key }) => createHash('sha256').update(key).digest('hex'))
    await client.query(INSERT, [places, used.map(({ id }) => id), hashes, body, Date.now()])
    await client.query('ANALYZE pgbench_submits')
    const rate = await run(url, program, clients, each)
    const { rows } = await client.query(
      `SELECT COUNT(*) AS count FROM tasks t JOIN pgbench_submits s ON s.task_id = t.id WHERE t.status = 'pending'`,
    )
    if (Number(rows[0].count) !== used.length) throw new Error(`pgbench submitted ${rows[0].count} of ${used.length}`)
    return rate
  })

async function run(url: string, program: string, clients: number, each: number): Promise<number> {
  const { hostname, port, pathname, username } = new URL(url)
  const server = ['-h', hostname, '-p', port, '-U', username]
  const how = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '2', '-t', String(each), '-D', 'i=0', '-f', SCRIPT]
  const { stdout } = await promisify(execFile)(program, [...server, ...how, pathname.slice(1)])
  const rate = Number(/tps = ([\d.]+) \(without/.exec(stdout)?.[1])
  if (!(rate > 0)) throw new Error(`pgbench said no rate:\n${stdout}`)
  return rate
}
