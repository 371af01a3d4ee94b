/**
 * Plays storms, from the command line:
 *
 *   npm run test:storm                             for a minute, from a new seed on
 *   npm run test:storm -- --minutes 30             for longer
 *   npm run test:storm -- --seed 7 --seeds 1000    these
 *   npm run test:storm -- --seed 7 --story         one, with all that happens in it
 *   npm run test:storm -- --mutants refund         changes of the source that a storm must notice: all, or those so named
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { bundled } from './bundle.ts'
import { mutants } from './mutants.ts'
import { type Played, Player, shorter } from './player.ts'

const STEPS = 200
/** Within so many seeds each mutant is found. */
const SEEDS_OF_MUTANT = 1_000

const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    steps: { type: 'string', default: String(STEPS) },
    story: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const steps = whole('steps', values.steps)

function whole(name: string, given: string): number {
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given)
  console.error(`--${name} is a whole number above zero, such as 100; ${given} is none.`)
  process.exit(2)
}

/** Does it as often at once as there are processors. */
const lanes = (one: () => Promise<void>) => Promise.all(Array.from({ length: availableParallelism() }, one))

async function story(seed: string): Promise<void> {
  const program = await bundled()
  const player = new Player(program)
  const played = await player.play({ seed, steps, tells: true })
  for (const line of played.lines) console.log(line.length > 2_000 ? `${line.slice(0, 2_000)}…` : line)
  console.log(`story ${played.digest}`)
  if (played.broken) process.exitCode = 1
  await player.close()
  program.remove()
}

/** Seeds from `first` on, until so many are played or the time is over. */
async function plays(first: number, seeds: number | undefined, minutes: number): Promise<void> {
  const program = await bundled()
  const begun = performance.now()
  const isOver = (count: number) =>
    seeds === undefined ? performance.now() - begun > minutes * 60_000 : count >= seeds
  const sums = { storms: 0, broken: 0, starts: 0, hours: 0, ms: 0 }
  let next = 0
  await lanes(async () => {
    const player = new Player(program)
    while (!isOver(next)) {
      const played = await player.play({ seed: String(first + next++), steps })
      sums.storms++
      sums.starts += played.starts
      sums.hours += played.hours
      sums.ms += played.ms
      if (played.broken === null) continue
      sums.broken++
      await report(player, played)
    }
    await player.close()
  })
  program.remove()
  const minutesTaken = (performance.now() - begun) / 60_000
  console.log(
    `${sums.storms} storms of ${steps} steps from seed ${first} on, ${sums.broken} with a broken promise; ` +
      `${sums.starts} crashes and restarts, ${Math.round(sums.hours / 24)} days. ${Math.round(sums.storms / minutesTaken)} a ` +
      `minute, ${Math.round(sums.ms / Math.max(1, sums.storms))} ms of processor time each.`,
  )
  if (sums.broken > 0) process.exitCode = 1
}

async function report(player: Player, played: Played): Promise<void> {
  console.log(`seed ${played.seed}, step ${played.step}: ${played.broken}`)
  const left = await shorter(player, played)
  console.log(`  ${left.length} of its ${played.step} steps are enough: ${left.join(' ')}`)
  console.log(`  Again: npm run test:storm -- --seed ${played.seed} --story`)
}

async function tryMutants(parts: readonly string[], seeds: number): Promise<void> {
  const left = mutants.filter(({ name }) => parts.length === 0 || parts.some(part => name.includes(part)))
  await lanes(async () => {
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const program = await bundled(mutant.change)
      const player = new Player(program)
      let broken: string | null = null
      let seed = 0
      while (broken === null && seed < seeds) ({ broken } = await player.play({ seed: String(++seed), steps }))
      const how = broken === null ? 'NOT FOUND' : `found by seed ${seed}`
      console.log(`${how}: ${mutant.name}: ${broken?.split('\n')[0]?.slice(0, 160) ?? ''}`)
      if (broken === null) process.exitCode = 1
      await player.close()
      program.remove()
    }
  })
}

if (values.mutants)
  await tryMutants(positionals, values.seeds === undefined ? SEEDS_OF_MUTANT : whole('seeds', values.seeds))
else if (values.story) await story(values.seed ?? '1')
else {
  const seed = values.seed === undefined ? 1 + (Date.now() % 1_000_000) : whole('seed', values.seed)
  const seeds = values.seeds ?? (values.seed !== undefined && values.minutes === undefined ? '1' : undefined)
  await plays(seed, seeds === undefined ? undefined : whole('seeds', seeds), whole('minutes', values.minutes ?? '1'))
}
