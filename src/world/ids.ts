/** Ids of rows: the prefix of their kind, then a UUID of version 7 without its dashes. Source: A-322. */
import { V7Generator } from 'uuidv7'
import type { Chance } from './chance.ts'

/** The first ten of its 32 random bits say which shard its row would be on; what stands before them orders ids. */
const SHARD = /^[a-z]+_[0-9a-f]{24}([0-9a-f]{3})[0-9a-f]{5}$/

/** 0 to 1023; null if the marketplace did not make the id. @internal One database holds all shards today. */
export function shardOf(id: string): number | null {
  const digits = SHARD.exec(id)?.[1]
  return digits === undefined ? null : Number.parseInt(digits, 16) >> 2
}

/** Makes ids that sort by `at`, in ms. `beside`: an id whose shard the new one gets; without one, any. */
export function idMaker(chance: Pick<Chance, 'nextUint32'>) {
  const generator = new V7Generator(chance)
  return (prefix: string, at: number, beside?: string | null): string => {
    const id = `${prefix}_${generator.generateOrResetWithTs(at).toHex()}`
    const shard = beside ? shardOf(beside) : null
    return shard === null ? id : onShard(id, shard)
  }
}

function onShard(id: string, shard: number): string {
  const last = Number.parseInt(id.at(-6)!, 16) & 3
  return `${id.slice(0, -8)}${((shard << 2) | last).toString(16).padStart(3, '0')}${id.slice(-5)}`
}
