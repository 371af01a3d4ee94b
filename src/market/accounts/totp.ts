/**
 * Codes of an authenticator app: TOTP (RFC 6238) with the parameters that every app supports: SHA-1, 6 digits, 30 seconds.
 */
import { createRequire } from 'node:module'
import type { World } from '../../world/world.ts'

/** Loaded by the first who needs a code: at a start it would take 5 ms of 330. */
const otpauth = (): typeof import('otpauth') => require('otpauth')
const require = createRequire(import.meta.url)

const STEP_MS = 30_000
/** How many steps earlier or later a code may be, as clocks of phones differ. */
const WINDOW = 1
const SECRET_BYTES = 20

function codesOf(secret: string, label = '', issuer = '') {
  const { Secret, TOTP } = otpauth()
  const period = STEP_MS / 1000
  return new TOTP({ issuer, label, algorithm: 'SHA1', digits: 6, period, secret: Secret.fromBase32(secret) })
}

/** Makes a secret, in base32. */
export const newTotpSecret = (world: World): string =>
  new (otpauth().Secret)({ buffer: Uint8Array.from(world.bytes(SECRET_BYTES)).buffer }).base32

/** Returns the URL that apps read from a QR code. */
export const otpauthUrl = (secret: string, email: string, issuer: string): string =>
  codesOf(secret, email, issuer).toString()

/**
 * Returns the code of a moment (ms).
 * @internal Tests sign in with it.
 */
export const totpCode = (secret: string, at: number): string => codesOf(secret).generate({ timestamp: at })

/**
 * Returns the time step that the code belongs to, null if none near `now`. `now` is real time, like the clock of the app.
 */
export function stepOf(secret: string, typed: string, now: number): number | null {
  const token = typed.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const away = codesOf(secret).validate({ token, timestamp: now, window: WINDOW })
  return away === null ? null : Math.floor(now / STEP_MS) + away
}
