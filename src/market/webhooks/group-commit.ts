/**
 * Collects writes about tasks while one is under way and commits them together: under load a group costs little more than
 * one.
 */
import type { Db, Tx } from '../../store/db.ts'

interface PendingWrite {
  readonly taskId: string
  readonly work: (tx: Tx) => Promise<unknown>
  done(outcome: unknown): void
  fail(error: unknown): void
}

/**
 * The most writes, and so task locks, in one transaction. It is twice the quick slots: with fewer, webhooks would be sent
 * faster than their outcomes are written.
 */
const GROUP = 128

export class GroupCommit {
  readonly #db: Pick<Db, 'write'>
  readonly #waiting: PendingWrite[] = []
  #busy = false

  constructor(db: Pick<Db, 'write'>) {
    this.#db = db
  }

  /**
   * Runs `work` in a transaction that has locked the task, perhaps together with other writes. If it throws, the others are
   * not affected.
   */
  write<Outcome>(taskId: string, work: (tx: Tx) => Promise<Outcome>): Promise<Outcome> {
    return new Promise((done, fail) => {
      this.#waiting.push({ taskId, work, done: outcome => done(outcome as Outcome), fail })
      if (!this.#busy) void this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    this.#busy = true
    while (this.#waiting.length > 0) await this.#writeGroup([])
    this.#busy = false
  }

  /** Writes the group; if it is empty, what has gathered when the transaction begins. Never rejects. */
  async #writeGroup(group: PendingWrite[]): Promise<void> {
    const gather = () => {
      if (group.length === 0) group.push(...this.#waiting.splice(0, GROUP))
    }
    try {
      const outcomes = await this.#db.write(tx => {
        gather()
        return runAll(tx, group)
      })
      for (const [at, note] of group.entries()) note.done(outcomes[at])
    } catch (error) {
      gather() // the transaction has not even begun
      if (group.length === 1) group[0]!.fail(error)
      else for (const note of group) await this.#writeGroup([note])
    }
  }
}

async function runAll(tx: Tx, group: readonly PendingWrite[]): Promise<unknown[]> {
  // In the order of their ids; otherwise two groups could deadlock.
  const taskIds = new Set(group.map(note => note.taskId))
  const locked = tx.lock('tasks', ...taskIds)
  const [outcomes] = await Promise.all([Promise.all(group.map(note => note.work(tx))), locked])
  return outcomes
}
