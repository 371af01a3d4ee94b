/** For programs that run a marketplace inside themselves. */

export type { Log, LogEntry } from './market/log.ts'
export { type Marketplace, type OpenOptions, openMarketplace } from './open.ts'
