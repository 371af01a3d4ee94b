/** The settings a marketplace runs with, and the only place that reads the environment. */

export interface Config {
  readonly mode: 'dev' | 'serve'
  readonly host: string
  readonly port: number
  /** Public address without a trailing slash: the base of every callbackUrl. Known once the server listens. */
  baseUrl: string
  /** 32 bytes that seal webhook secrets at rest. Source: D8. */
  readonly secretKey: Buffer
  readonly payments: 'sandbox' | 'manual'
  readonly currency: string
  /** Rate limits are off, only announced, or enforced. Source: D40. */
  readonly rateLimits: 'strict' | 'warn' | 'off'
  readonly version: string
}
