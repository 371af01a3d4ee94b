/** What clients may take of a server: connections, memory and disk. Source: A-49. */
import { limits } from '../../api/limits.ts'
import { MIB } from '../../market/mebibytes.ts'
import type { Config } from '../../settings/config.ts'

/** Overrides of the defaults in `boundsOf`. */
export interface GivenBounds {
  connections?: number | undefined
  ofAddress?: number | undefined
  /** How much of responses may wait for their readers, in MiB. One address may have an eighth. */
  unreadMegabytes?: number | undefined
  /** How much of files may be on the disk while their uploads go on, in MiB. One account may have an eighth. */
  uploadMegabytes?: number | undefined
  /** How often slow readers are checked. Bodies are checked a sixth as often. */
  lookMs?: number
  /** How often a silent stream sends something. */
  heartbeatMs?: number
}

export const boundsOf = ({ mode, trustProxy }: Config, given: GivenBounds) => ({
  connections: given.connections ?? 4_096,
  ofAddress: trustProxy > 0 ? null : (given.ofAddress ?? (mode === 'dev' ? null : 100)),
  lookMs: given.lookMs ?? 5_000,
  heartbeatMs: given.heartbeatMs ?? limits.streams.commentMs,
  unreadBytes: (given.unreadMegabytes ?? 32) * MIB,
  arrivingFileBytes: (given.uploadMegabytes ?? 1_024) * MIB,
})
