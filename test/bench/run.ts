/** `npm run bench [-- filter …]`: both sides of every measurement in one run, one table of ratios. Exits 1 if one is missed. */
import { availableParallelism, cpus } from 'node:os'
import { type Bench, createBench } from './bench.ts'
import { twoDays } from './clock.ts'
import { judge } from './conformance.ts'
import { inBrowser } from './console.ts'
import { dispatch, durableSubmit } from './durable.ts'
import { firstHire } from './first-hire.ts'
import { account, pages } from './pages.ts'
import { installPeers, peerVersion } from './peers.ts'
import { postgres } from './postgres.ts'
import { agentList, latency, manyTasks, oneTask, refused, submitOverHttp } from './rows.ts'
import { starts } from './start.ts'
import { isMet, printTable, type Row } from './table.ts'

const measurements: Record<string, (bench: Bench) => Promise<Row[]>> = {
  start: starts,
  hire: firstHire,
  clock: twoDays,
  conformance: judge,
  console: inBrowser,
  durable: durableSubmit,
  dispatch,
  agents: agentList,
  task: oneTask,
  submit: submitOverHttp,
  latency,
  refused,
  size: manyTasks,
  postgres,
  pages,
  account,
}

const wanted = process.argv.slice(2)
const names = Object.keys(measurements).filter(name => wanted.length === 0 || wanted.includes(name))
if (names.length === 0) throw new Error(`What to measure: ${Object.keys(measurements).join(', ')}`)

installPeers()
const peers = ['better-sqlite3', 'polka', 'undici'].map(name => `${name} ${peerVersion(name)}`).join(', ')
console.log(`Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model.trim()}; ${peers}`)
const bench = createBench()
const rows: Row[] = []
try {
  for (const name of names) rows.push(...(await measurements[name]!(bench)))
} finally {
  await bench.end()
}
console.log()
printTable(rows)
process.exitCode = rows.every(isMet) ? 0 : 1
