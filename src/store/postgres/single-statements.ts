/**
 * Each statement as a query of its own, by what pg documents: one behind the other, without waiting between. The server
 * does more for it (a Sync for each), so it is for a pg that batches don't fit: see pg-internals.ts.
 */
import type pg from 'pg'
import type { Value } from '../db.ts'
import { codeOf, endsConnection, outdated } from './errors.ts'
import { type Asked, type PackedRead, type Result, type Sender, SILENCE_MS } from './sender.ts'
import { parserOf } from './values.ts'

export class SingleStatements implements Sender {
  readonly #client: pg.ClientBase
  readonly #statementMs: number
  /** Sent and not answered yet: the server works them off one after the other. */
  #open = 0
  /** pg has no way to prepare a statement anew: only another connection has nothing prepared. */
  isOutdated = false

  constructor(client: pg.ClientBase, statementMs: number) {
    this.#client = client
    this.#statementMs = statementMs
  }

  async ask({ text, name, values }: Asked): Promise<Result> {
    this.#open++
    const query_timeout = this.#open * this.#statementMs + SILENCE_MS
    const query = { text, values: values as Value[], types, query_timeout, ...(name && { name }) }
    try {
      const { rows, rowCount, command } = await this.#client.query(query)
      return { rows, count: rowCount ?? 0, command }
    } catch (error) {
      this.isOutdated ||= outdated.includes(codeOf(error))
      throw error
    } finally {
      this.#open--
    }
  }

  askLast(asked: Asked): Promise<Result> {
    return this.ask(asked)
  }

  send(): void {}

  async carry(groups: readonly (readonly PackedRead[])[]): Promise<boolean> {
    const answers = groups.flat().map(({ asked, resolve, reject }) => {
      const answer = this.ask(asked)
      answer.then(resolve, reject)
      return answer
    })
    const ends = await Promise.allSettled(answers)
    return !ends.some(end => end.status === 'rejected' && endsConnection(end.reason))
  }
}

const types = { getTypeParser: parserOf as typeof pg.types.getTypeParser }
