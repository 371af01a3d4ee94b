/** Passwords: argon2id, at most two at once, since each takes memory and a core. */

import type { Caller } from '../market.ts'
import { HashQueue } from './hash-queue.ts'

// The library's own defaults, named so that the stand-in below costs exactly as much as a real one.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Fits no password. Verifying against it takes as long as against a real hash. */
export const noPassword = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

// 32 wait for a second at most where a hash takes 50 ms.
const queue = new HashQueue({ atOnce: 2, most: 32 })

/** So many passwords wait to be hashed in this process. */
export const hashesWaiting = () => queue.waiting

/** Who is behind it, for the queue; the house itself unless given. */
type By = Pick<Caller, 'address' | 'gone'>
const HOUSE: By = { address: '' }

// Native code, loaded by the first who needs it.
const argon = () => import('@node-rs/argon2')

export const hashPassword = (password: string, by: By = HOUSE): Promise<string> =>
  queue.run(by, async () => (await argon()).hash(password, cost))

/** For one of at least 64 random bits, which nobody can guess however quick its hash is. */
export const hashRandomPassword = async (password: string): Promise<string> =>
  (await argon()).hash(password, { ...cost, memoryCost: 8, timeCost: 1 })

/** Without a hash: false, after the same time. */
export const verifyPassword = (hash: string | undefined, password: string, by: By = HOUSE): Promise<boolean> =>
  queue.run(by, async () => (await argon()).verify(hash ?? noPassword, password))
