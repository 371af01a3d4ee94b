/** Codes of an authenticator app: TOTP as RFC 6238 has it, with what every app takes (SHA-1, 6 digits, 30 seconds). */
import { Secret, TOTP } from 'otpauth'
import type { World } from '../../world/world.ts'

const STEP_MS = 30_000
/** Steps to either side: clocks of phones differ. */
const WINDOW = 1
const SECRET_BYTES = 20

const codesOf = (secret: string, label = '', issuer = '') =>
  new TOTP({ issuer, label, algorithm: 'SHA1', digits: 6, period: STEP_MS / 1000, secret: Secret.fromBase32(secret) })

/** A new secret, in base32. */
export const newTotpSecret = (world: World): string =>
  new Secret({ buffer: Uint8Array.from(world.bytes(SECRET_BYTES)).buffer }).base32

/** What an app reads from a QR code. */
export const otpauthUrl = (secret: string, email: string, issuer: string): string =>
  codesOf(secret, email, issuer).toString()

/** The code of a moment. */
export const totpCode = (secret: string, at: number): string => codesOf(secret).generate({ timestamp: at })

/** The step that the code is of, by real time as the app's clock is; null if it is of none near now. */
export function stepOf(secret: string, typed: string, now: number): number | null {
  const token = typed.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const away = codesOf(secret).validate({ token, timestamp: now, window: WINDOW })
  return away === null ? null : Math.floor(now / STEP_MS) + away
}
