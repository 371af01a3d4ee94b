/** How statements travel on one connection: as batches (pg-internals.ts), or each by itself (single-statements.ts). */
import type { Value } from '../db.ts'

/** The server ends slow statements by itself. If it has not responded for this much longer, it is gone. */
export const SILENCE_MS = 5000

export interface Asked {
  readonly text: string
  /** Prepared under it, once for each connection; empty: for this time alone. */
  readonly name: string
  readonly values: readonly Value[]
}

export interface Result {
  rows: Record<string, Value>[]
  /** Rows read or changed. */
  count: number
  /** What was done, in the server's words: `UPDATE`. */
  command: string
}

/** One statement of a read outside of transactions, and who waits for its answer. */
export interface PackedRead {
  readonly asked: Asked
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface Sender {
  /** Statements of one turn of the event loop travel together. In a transaction, all after one that fails also fail. */
  ask(asked: Asked): Promise<Result>
  /** Sends it and all before it; the answer may take as long as each of them may. */
  askLast(asked: Asked): Promise<Result>
  /** Sends what was asked: what is asked from now on does not fail for it outside of a transaction. */
  send(): void
  /** Sends all as one packet. Each group may fail as one. Resolves when all are answered, with whether the connection is sound. */
  carry(groups: readonly (readonly PackedRead[])[]): Promise<boolean>
  /** What the server has prepared for this connection is of no use any more. */
  readonly isOutdated: boolean
}
