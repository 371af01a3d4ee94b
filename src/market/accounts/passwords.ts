/** Hashes passwords with argon2id, at most two at once, as each takes memory and a core. */
import type { Caller } from '../market.ts'
import { HashQueue } from './hash-queue.ts'

// The library's own defaults, spelled out so that the dummy hash below costs as much as a real one.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** A hash that no password matches. Verifying against it takes as long as against a real one. */
const noPassword = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

// 32 wait for a second at most where a hash takes 50 ms.
const queue = new HashQueue({ atOnce: 2, most: 32 })

/** How many passwords wait to be hashed in this process. */
export const hashesWaiting = () => queue.waiting

/** Whose request it is, for the queue; the marketplace's own unless given. */
type By = Pick<Caller, 'address' | 'gone'>
const OURSELVES: By = { address: '' }

// Native code, loaded when it is first needed.
const argon = () => import('@node-rs/argon2')

export const hashPassword = (password: string, by: By = OURSELVES): Promise<string> =>
  queue.run(by, async () => (await argon()).hash(password, cost))

/** A quick hash for a password of at least 64 random bits, which nobody can guess. */
export const hashRandomPassword = async (password: string): Promise<string> =>
  (await argon()).hash(password, { ...cost, memoryCost: 8, timeCost: 1 })

/** Without a hash it returns false, after the same time. */
export const verifyPassword = (hash: string | undefined, password: string, by: By = OURSELVES): Promise<boolean> =>
  queue.run(by, async () => (await argon()).verify(hash ?? noPassword, password))
