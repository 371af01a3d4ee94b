/**
 * Argon2 as a storm loads it. The real one hashes in threads of the system, which end in any order; here a hash is there at
 * once, at the lowest cost, with a salt of the storm's seed.
 */
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'

type Argon2 = typeof import('@node-rs/argon2')

const real: Argon2 = createRequire(import.meta.url)('@node-rs/argon2')

export const hash: Argon2['hash'] = async (password, options) =>
  real.hashSync(password, { ...options, memoryCost: 8, timeCost: 1, salt: randomBytes(16) })
export const verify: Argon2['verify'] = async (hashed, password) => real.verifySync(hashed, password)
