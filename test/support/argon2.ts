/**
 * Argon2 as tests load it: the real one, whose hashes are the cheapest there are if TEST_QUICK_PASSWORDS says so. A hash
 * that withstands an attacker costs more than all the rest of an account, and most tests only need people.
 */
import { createRequire } from 'node:module'

type Argon2 = typeof import('@node-rs/argon2')

const real: Argon2 = createRequire(import.meta.url)('@node-rs/argon2')
const quick = process.env.TEST_QUICK_PASSWORDS === 'on' ? { memoryCost: 8, timeCost: 1 } : {}

export const hash: Argon2['hash'] = (password, options) => real.hash(password, { ...options, ...quick })
export const verify: Argon2['verify'] = real.verify
