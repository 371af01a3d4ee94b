/**
 * Argon2 as tests load it: the real one, whose hashes are the cheapest there are if TEST_QUICK_PASSWORDS says so. A hash
 * that withstands an attacker costs more than all the rest of an account, and most tests only need people.
 */
import { createRequire } from 'node:module'

type Argon2 = typeof import('@node-rs/argon2')

const real: Argon2 = createRequire(import.meta.url)('@node-rs/argon2')
const isQuick = process.env.TEST_QUICK_PASSWORDS === 'on'
const quick = isQuick ? { memoryCost: 8, timeCost: 1 } : {}
/** The costs of the hash that no password matches: whoever has none is compared with it. */
const COSTS_OF_NONE = /m=\d+,t=\d+(?=,p=1\$A{22}\$A{43}$)/

export const hash: Argon2['hash'] = (password, options) => real.hash(password, { ...options, ...quick })
export const verify: Argon2['verify'] = (hashed, password, options) =>
  real.verify(isQuick ? String(hashed).replace(COSTS_OF_NONE, 'm=8,t=1') : hashed, password, options)
