/** The package's main export: for programs that run a marketplace in their own process. */

export type { Log, LogEntry } from './market/log.ts'
export { type Marketplace, openMarketplace } from './open.ts'
export type { OpenOptions } from './open-options.ts'
