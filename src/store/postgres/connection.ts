/** One connection to Postgres. Statements that are issued together travel in one packet, with BEGIN and COMMIT. */
import type { Value } from '../db.ts'
import type { PackedRead, Result, Sender } from './sender.ts'
import type { Session } from './session.ts'
import type { PostgresText } from './sql-text.ts'

export type Isolation = 'READ COMMITTED' | 'REPEATABLE READ READ ONLY'

/** How long the end of a read may wait to travel with the next statements. */
const LINGER_MS = 5

const STRICTEST = { 'READ COMMITTED': 'SERIALIZABLE', 'REPEATABLE READ READ ONLY': 'SERIALIZABLE READ ONLY' } as const

export class Wire {
  readonly #sender: Sender
  readonly #session: Session
  #lingering: NodeJS.Timeout | null = null

  constructor(sender: Sender, session: Session) {
    this.#sender = sender
    this.#session = session
  }

  /** Whether another connection is needed for what was prepared on this one. */
  get isOutdated() {
    return this.#sender.isOutdated
  }

  /** What the server behind it lacks. */
  get lacks() {
    return this.#session.lacks
  }

  /** Sent with the first statement. If it fails, that one fails too. */
  begin(isolation: Isolation): void {
    if (this.#lingering) this.#endRead()
    this.#control(`BEGIN ISOLATION LEVEL ${this.lacks.has('levels of isolation') ? STRICTEST[isolation] : isolation}`)
    if (this.#session.isPooled) this.#control(this.#session.limitsOfTransaction, 'LIMITS')
  }

  ask(text: PostgresText, values: readonly Value[]): Promise<Result> {
    return this.#sender.ask(this.#asked(text, values))
  }

  /** Returns how it ended. A read has nothing to lose by then: its end travels with what comes next on this connection. */
  async commit(isolation: Isolation): Promise<string> {
    if (isolation === 'REPEATABLE READ READ ONLY') {
      this.#lingering = setTimeout(() => this.#endRead(), LINGER_MS).unref()
      return 'COMMIT'
    }
    // The server finishes what it has received, so its result must be awaited before an error is reported.
    return (await this.#sender.askLast(this.#asked({ text: 'COMMIT', name: 'COMMIT' }, []))).command
  }

  async rollback(): Promise<void> {
    this.#sender.send() // a statement that fails fails all that goes with it
    await this.#sender.askLast({ text: 'ROLLBACK', name: '', values: [] })
  }

  /** Sends all as one packet; resolves when all are answered, with whether the connection is sound. Outside transactions. */
  carry(groups: readonly (readonly PackedRead[])[]): Promise<boolean> {
    if (this.#lingering) this.#endRead()
    return this.#sender.carry(groups)
  }

  #endRead() {
    if (this.#lingering) clearTimeout(this.#lingering)
    this.#lingering = null
    this.#control('COMMIT')
  }

  #control(text: string, name = text) {
    this.#sender.ask(this.#asked({ text, name }, [])).catch(() => {})
  }

  #asked({ text, name }: PostgresText, values: readonly Value[]) {
    return { text, name: this.#session.prepares ? name : '', values }
  }
}
