/** A process that plays storms: courses come in, one a line, and a line goes out for each. */
import { createInterface } from 'node:readline'
import { seededChance } from '../../src/world/chance.ts'
import { replaceNode } from './node.ts'
import type { Course } from './storm.ts'

const BEGINNING_MS = Date.UTC(2026, 0)

replaceNode({ realNow: () => BEGINNING_MS, after: () => ({ cancel() {} }), chance: seededChance('before any storm') })
// Only now, as some modules keep what they find when they are loaded.
const { loadAhead } = await import('../../src/web/load-ahead.ts')
const { storm } = await import('./storm.ts')
const { madeTown } = await import('./town.ts')

await loadAhead({ mail: null })
// Whoever asked is gone.
process.stdout.on('error', () => process.exit())
const town = await madeTown()
for await (const line of createInterface({ input: process.stdin })) {
  const { without, ...course } = JSON.parse(line) as Omit<Course, 'without'> & { without?: number[] }
  const begun = process.cpuUsage()
  const outcome = await storm(town, { ...course, ...(without && { without: new Set(without) }) })
  const { user, system } = process.cpuUsage(begun)
  const ms = Math.round((user + system) / 1000)
  process.stdout.write(`${JSON.stringify({ ...course, ...outcome, good: [...outcome.good], ms })}\n`)
}
