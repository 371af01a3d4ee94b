/**
 * Plays the plan of docs/guides/scale.md in memory: accounts on shards by their ids, the money of an approval that leaves a shard as
 * two local moves with a row between, and couriers that die. What it counts stands in the page.
 */
import { seededChance } from '../../src/world/chance.ts'
import { idMaker, shardOf } from '../../src/world/ids.ts'

const BUYERS = 2_000
const BUILDERS = 400
const TASKS = 20_000
/** So many approvals come in until the couriers go. */
const EACH = 500
const DIES = 0.02
/** Of an approval on one Postgres, as counted at the wire. What arrives is known before its unit begins, so that takes one. */
export const ROUND_TRIPS = 2
const SLOTS = 1024

class Shard {
  readonly balances = new Map<string, number>()
  /** What is on its way to another shard, by the transfer's id. */
  readonly leaving = new Map<string, { builder: string; amount: number }>()
  /** Entries by their primary key: the database refuses the second of an id. */
  readonly arrived = new Set<string>()
  units = 0

  move(from: string, to: string, amount: number) {
    this.balances.set(from, (this.balances.get(from) ?? 0) - amount)
    this.balances.set(to, (this.balances.get(to) ?? 0) + amount)
  }
}

export interface Figures {
  shards: number
  crossing: number
  /** Of a mean approval. */
  units: number
  tripsBeforeAnswer: number
  trips: number
  /** The units of the fullest shard, as a multiple of the mean. */
  fullest: number
  /** How often a courier died between its two units. */
  deaths: number
}

/** Throws if money is lost or doubled. */
export function playShards(count: number): Figures {
  const chance = seededChance(`${count} shards`)
  const id = idMaker(chance)
  const accounts = (number: number) => Array.from({ length: number }, () => id('usr', 0))
  const [buyers, builders] = [accounts(BUYERS), accounts(BUILDERS)]
  const shards = Array.from({ length: count }, () => new Shard())
  const placeOf = (row: string) => shards[Math.floor((shardOf(row)! * count) / SLOTS)]!
  // The one of rank n is met 1 / n times as often as the first.
  const one = (of: readonly string[]) => of[Math.min(of.length - 1, Math.floor(of.length ** chance.fraction()) - 1)]!
  const tally = { crossing: 0, units: 0, trips: 0, deaths: 0 }
  const unit = (shard: Shard, trips: number) => {
    shard.units++
    tally.units++
    tally.trips += trips
  }

  const approve = (buyer: string, builder: string, amount: number) => {
    const transfer = id('trf', 0, id('task', 0, buyer))
    const [from, to] = [placeOf(transfer), placeOf(builder)]
    unit(from, ROUND_TRIPS)
    if (from === to) return from.move(`held:${buyer}`, `clearing:${builder}`, amount)
    tally.crossing++
    from.move(`held:${buyer}`, 'transit', amount)
    from.leaving.set(transfer, { builder, amount })
  }

  /** Takes what leaves a shard to the others: a unit at each of them, then one that forgets what has arrived. */
  const carry = (from: Shard) => {
    const targets = new Set([...from.leaving.values()].map(({ builder }) => placeOf(builder)))
    for (const to of targets) {
      unit(to, 1)
      for (const [transfer, { builder, amount }] of from.leaving) {
        if (placeOf(builder) !== to || to.arrived.has(transfer)) continue
        to.arrived.add(transfer)
        to.move('transit', `clearing:${builder}`, amount)
      }
      if (chance.fraction() < DIES) {
        tally.deaths++
        return
      }
    }
    if (targets.size === 0) return
    unit(from, 1)
    from.leaving.clear()
  }

  const prove = () => {
    const all = shards.flatMap(({ balances }) => [...balances])
    const sum = (kind: string) => all.reduce((total, [name, cents]) => total + (name.startsWith(kind) ? cents : 0), 0)
    const underWay = shards
      .flatMap(({ leaving }) => [...leaving])
      .filter(([transfer, { builder }]) => !placeOf(builder).arrived.has(transfer))
    if (sum('') !== 0 || sum('transit') !== underWay.reduce((total, [, { amount }]) => total + amount, 0))
      throw new Error('The books of the shards do not agree')
    return -sum('held:') - sum('clearing:')
  }

  for (let i = 1; i <= TASKS; i++) {
    approve(one(buyers), one(builders), 200 + (chance.nextUint32() % 10_000))
    if (i % EACH > 0) continue
    for (const shard of shards) carry(shard)
    prove()
  }
  while (shards.some(({ leaving }) => leaving.size > 0)) for (const shard of shards) carry(shard)
  if (prove() !== 0) throw new Error('What has left buyers has not come to builders')
  return {
    shards: count,
    crossing: tally.crossing / TASKS,
    units: tally.units / TASKS,
    tripsBeforeAnswer: ROUND_TRIPS,
    trips: tally.trips / TASKS,
    fullest: Math.max(...shards.map(({ units }) => units)) / (tally.units / count),
    deaths: tally.deaths,
  }
}

/** The table of the page. */
export const shardTable = () =>
  [
    '| shards | tasks that cross | units of an approve | its round trips until the answer | in all | fullest shard : mean |',
    '|---|---|---|---|---|---|',
    ...[1, 10, 100].map(playShards).map(figures => {
      const { shards, crossing, units, tripsBeforeAnswer, trips, fullest } = figures
      const cells = [
        `${Math.round(crossing * 100)} %`,
        units.toFixed(1),
        tripsBeforeAnswer,
        trips.toFixed(1),
        fullest.toFixed(1),
      ]
      return `| ${[shards, ...cells].join(' | ')} |`
    }),
  ].join('\n')
