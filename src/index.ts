/** For programs that run a marketplace inside themselves. */

export type { Happening, Log } from './market/log.ts'
export { type Marketplace, type OpenOptions, openMarketplace } from './open.ts'
