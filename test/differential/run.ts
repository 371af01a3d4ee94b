/** The long run: 50,000 steps, or as many as the second argument says, from the seed of the first or a new one. */
import { startPostgres } from '../support/postgres-server.ts'
import { Difference } from './pair.ts'
import { walk } from './walk.ts'

const [seed = String(Date.now() % 1_000_000), given = '50000'] = process.argv.slice(2)
const steps = Number(given)
console.log(`seed ${seed}, ${steps} steps`)
const postgres = await startPostgres()
process.env.TEST_DATABASE_URL = postgres.url
const started = performance.now()
try {
  const { answers, ...report } = await walk({ seed, steps, tablesEvery: Math.max(1_000, Math.ceil(steps / 10)) })
  const all = [...answers].map(([name, { good, bad }]) => ({ name, '2xx': good, '4xx': bad }))
  console.table(all)
  console.log({ ...report, seconds: Math.round((performance.now() - started) / 1000) })
} catch (error) {
  process.exitCode = 1
  console.log(error instanceof Difference ? error.message : error)
} finally {
  await postgres.stop()
}
