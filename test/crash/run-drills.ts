/**
 * The drills of several instances. Arguments: names of drills, all unless some are named. Fails if something is lost, doubled
 * or out of order, or if instances that are well hang or refuse for more than three seconds.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../support/postgres-server.ts'
import { assertInTime, drills } from './drills.ts'

const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !(name in drills))
if (unknown.length > 0) {
  console.error(`No drill is called ${unknown.join(', ')}. There are ${Object.keys(drills).join(', ')}.`)
  process.exit(2)
}
const server = await startPostgres()
process.env.TEST_DATABASE_URL = server.url
for (const [name, drill] of Object.entries(drills)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const folder = mkdtempSync(join(tmpdir(), `marketplace-drill-${name}-`))
  try {
    const report = await drill(folder)
    console.log(name, report)
    assertInTime(report)
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    process.exitCode = 1
    console.log(`${name} FAILED; its files are in ${folder}`)
    console.log(error)
  }
}
await server.stop()
console.log(process.exitCode ? 'FAILED' : 'all passed')
