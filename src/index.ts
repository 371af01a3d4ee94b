/** The package's main export: for programs that run a marketplace in their own process. */

export type { Log, LogEntry } from './market/log.ts'
export { type Marketplace, type OpenOptions, openMarketplace } from './open.ts'
