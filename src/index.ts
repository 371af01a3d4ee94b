/** The package's main export: for programs that run a marketplace in their own process. */

export type { Exchange } from './market/exchange.ts'
export type { Log, LogEntry, StampedEntry } from './market/log.ts'
export { type Marketplace, openMarketplace } from './open/open.ts'
export type { OpenOptions } from './open/options.ts'
