/** The package's main export: for programs that run a marketplace in their own process. */
import type { Marketplace, OpenOptions } from './open/embed.ts'
import { openMarketplace as open } from './open/open.ts'

export type { Exchange } from './market/exchange.ts'
export type { Log, LogEntry, StampedEntry } from './market/log.ts'
export type { Marketplace, OpenOptions }

/**
 * Opens the database, migrates it and listens. Rejects with an error for people if a step fails; then nothing stays open.
 * `close` of what it resolves to ends the marketplace.
 */
export const openMarketplace: (options: OpenOptions) => Promise<Marketplace> = open
