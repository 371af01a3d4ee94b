/**
 * A database at its default limit in a process of the size that guides/deploy.md names: start, check, backup, snapshot
 * and copy, each after every row was changed once. FULL_MB makes a smaller one. Run by: npm run test:full
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { startPostgres } from '../support/postgres-server.ts'

const MB = 1024 * 1024
const LIMIT_MB = Number(process.env.FULL_MB ?? 1024)
/** As the guide says: 1.2 times the limit and 300 MB. */
const MOST_MB = 1.2 * LIMIT_MB + 300
const PROGRAM = fileURLToPath(new URL('../../bin/marketplace.js', import.meta.url))

const folder = await mkdtemp(join(tmpdir(), 'full-'))
const file = join(folder, 'market.db')
const peak = join(folder, 'peak')
const env = {
  ...process.env,
  MARKETPLACE_DB_LIMIT: `${LIMIT_MB}MB`,
  // Each process leaves word of the most that was resident.
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `import fs from 'node:fs';process.on('exit',()=>fs.writeFileSync(${JSON.stringify(peak)},fs.readFileSync('/proc/self/status')))`,
  )}`,
}

async function run(what: string, args: readonly string[], onLine: (end: () => void) => void = () => {}) {
  const started = performance.now()
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.once('data', () => onLine(() => child.kill('SIGTERM')))
  const [said, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  assert.is(child.exitCode, 0, `${what}: ${said}${err}`)
  const took = Number(/VmHWM:\s+(\d+)/.exec(await readFile(peak, 'utf8'))![1]) / 1024
  console.log(`${what}: ${Math.round(took)} MB at most, ${((performance.now() - started) / 1000).toFixed(1)} s`)
  assert.ok(took <= MOST_MB, `${what} took ${Math.round(took)} MB, more than ${Math.round(MOST_MB)}`)
}

/** To the limit, in the plainest of its tables. */
async function fill() {
  const db = await openSqlite({ file, onFatal: console.error, journalBytes: 2 ** 40, fullBytes: LIMIT_MB * MB })
  const value = 'v'.repeat(3_900)
  let rows = 0
  while (db.fill!.bytes < db.fill!.limit) {
    await db.write(async tx => {
      for (let i = 0; i < 500; i++) {
        await tx.run('INSERT INTO settings (name, value) VALUES ($1, $2)', [`filling ${rows++}`, value])
      }
    })
  }
  await db.snapshot()
  await changeAll(db, rows)
  await db.close()
  console.log(`${rows} rows, ${LIMIT_MB} MB`)
}

/** In units of the size that requests have: what one of them changed is in memory twice until it ends. */
async function changeAll(db: Awaited<ReturnType<typeof openSqlite>>, rows: number) {
  for (let from = 0; from < rows; from += 500) {
    await db.write(async tx => {
      for (let i = from; i < from + 500; i++) {
        await tx.run(`UPDATE settings SET value = 'w' || SUBSTR(value, 2) WHERE name = $1`, [`filling ${i}`])
      }
    })
  }
}

const postgres = await startPostgres()
try {
  await run('migrate', ['db', 'migrate', file])
  await fill()
  await run('check', ['db', 'check', file])
  await run('start', ['serve', '--db', file, '--port', '0', '--json'], end => end())
  await run('backup', ['db', 'backup', file, `${file}.copy`])
  await run('snapshot', ['db', 'snapshot', file])
  await run('start again', ['serve', '--db', file, '--port', '0', '--json'], end => end())
  await run('copy', ['db', 'copy', '--from', file, '--to', postgres.url])
} finally {
  await postgres.stop()
  await rm(folder, { recursive: true })
}
