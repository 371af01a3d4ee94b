/**
 * `npm run databases`: writes the database of the version that is to be released, as a file and as SQL for Postgres. Until the
 * release it is written anew whenever a migration changes; from then on it stays as it is.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { version } from '../../../src/settings/config.ts'
import type { Reader, Tx, Value } from '../../../src/store/db.ts'
import { openSqlite } from '../../../src/store/embedded/database.ts'
import { hashOf, migrate } from '../../../src/store/migrate.ts'
import { migrations } from '../../../src/store/migrations/index.ts'
import { postgresText } from '../../../src/store/postgres/sql-text.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'
import { type About, FOLDER, secretKey } from './release.ts'

if (readFileSync('CHANGELOG.md', 'utf8').includes(`## [${version}]`))
  throw new Error(`${version} is released, so its database stays as it is: add a migration, and give it a new version.`)

const place = mkdtempSync(join(tmpdir(), 'marketplace-release-'))
const folder = join(FOLDER, version)
try {
  const file = join(place, 'market.db')
  const about = await played(file)
  const onFatal = (error: Error) => {
    throw error
  }
  const db = await openSqlite({ file, onFatal })
  const sql = await db.read(dumped)
  await db.snapshot()
  await db.close()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'about.json'), `${JSON.stringify(about, null, 2)}\n`)
  writeFileSync(join(folder, 'embedded.db.gz'), gzipSync(readFileSync(file), { level: 9 }))
  writeFileSync(join(folder, 'postgres.sql'), sql)
} finally {
  rmSync(place, { recursive: true })
}

/** A marketplace with a task in each state. */
async function played(file: string): Promise<About> {
  const marketplace = await openTestMarketplace({ file, secretKey })
  const [buyer, builder] = [await marketplace.join('buyer', 50_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const tasks: Record<string, string> = {}
  const act = (id: string, verb: string, body = {}) => buyer.call('POST', `/api/tasks/${id}/${verb}`, body)
  const answer = (id: string, body: object) => marketplace.callback(agent, id, body)
  for (const state of ['draft', 'pending', 'in_progress', 'delivered', 'completed', 'cancelled', 'disputed']) {
    const { id } = await marketplace.draft(buyer, agent, { title: `A task that is ${state}` })
    tasks[state] = id
    if (state === 'draft') continue
    await act(id, 'submit')
    if (state === 'cancelled') await act(id, 'cancel')
    if (state === 'pending' || state === 'cancelled') continue
    await answer(id, { action: 'accept' })
    if (state === 'in_progress') continue
    await answer(id, { action: 'deliver', content: 'What was asked for, ’with signs’; and "more"\n— as text.' })
    if (state === 'completed') await act(id, 'approve')
    if (state === 'disputed') await act(id, 'dispute', { reason: 'It is not what I have asked for, I think.' })
  }
  await marketplace.webhooksSent()
  await buyer.call('POST', `/api/tasks/${tasks.pending}/messages`, { content: 'Are you there?' })
  await marketplace.webhooksSent()
  await marketplace.checkLedger()
  const about = {
    version,
    migrations: Object.fromEntries(migrations.map(step => [`${step.id} ${step.name}`, hashOf(step)])),
    endedAt: marketplace.world.now(),
    buyer: { id: buyer.id, email: buyer.email, password: buyer.password },
    agent: { id: agent.id, url: agent.sink.url, secret: agent.secret },
    tasks,
    balances: { ...(await marketplace.balances(buyer.id)) },
  }
  await marketplace.close()
  return about
}

/** The tables as the migrations make them on Postgres, and the rows of the file. */
async function dumped(q: Reader): Promise<string> {
  const schema: string[] = []
  const tx = { run: async (sql: string) => schema.push(sql), all: async () => [] } as unknown as Tx
  await migrate({ migrate: work => work(tx) }, migrations, () => 0)
  const made = schema.filter(sql => /^CREATE\b/.test(sql)).map(sql => `${postgresText(sql).text};\n`)
  const tables = await q.all<{ name: string }>(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
  )
  const rows: string[] = []
  for (const { name } of tables)
    for (const row of await q.all<Record<string, Value>>(`SELECT * FROM ${name}`))
      rows.push(
        `INSERT INTO ${name} (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).map(literal).join(', ')});\n`,
      )
  return [...made, ...rows].join('')
}

function literal(value: Value): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value ?? 'NULL')
}
