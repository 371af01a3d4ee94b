/** Repeatable random numbers: sfc32 (from PractRand, by Chris Doty-Humphrey), seeded with a hash of any text. */
import { createHash } from 'node:crypto'

export interface Chance {
  nextUint32(): number
  /** A number in [0, 1) with 53 random bits. */
  fraction(): number
  bytes(count: number): Buffer
}

/** The same seed gives the same sequence, on every machine. Not for secrets that must stay secret. */
export function seededChance(seed: string | number): Chance {
  const hash = createHash('sha256').update(String(seed)).digest()
  let [a, b, c, counter] = [hash.readInt32LE(0), hash.readInt32LE(4), hash.readInt32LE(8), 1]

  function nextUint32(): number {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  for (let round = 0; round < 12; round++) nextUint32()

  return {
    nextUint32,
    fraction: () => ((nextUint32() >>> 5) * 0x4000000 + (nextUint32() >>> 6)) / 2 ** 53,
    bytes(count) {
      const out = Buffer.alloc(Math.ceil(count / 4) * 4)
      for (let at = 0; at < out.length; at += 4) out.writeUInt32LE(nextUint32(), at)
      return out.subarray(0, count)
    },
  }
}
