/** Drivers that pipeline by themselves, each by its public interface, made to send what ours sends. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { built } from './built.ts'
import type { Breath } from './pipelines.ts'

export type PipelinedPeer = 'pg' | 'postgres'

const { apart, joinedText, postgresText } =
  await built<typeof import('../../src/store/postgres/sql-text.ts')>('store/postgres/sql-text')

type Transact = (breaths: readonly Breath[]) => Promise<unknown>
type Send = (text: string, name: string, values: unknown[]) => Promise<{ command?: string }>

export async function connectPeer(driver: PipelinedPeer, url: string, connections: number): Promise<Transact> {
  return driver === 'postgres' ? overPostgres(url, connections) : overPg(url, connections)
}

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/** BEGIN goes with the first breath, COMMIT with the last: no driver waits for either. */
async function transact(send: Send, breaths: readonly Breath[]): Promise<void> {
  const begun = send(BEGIN, BEGIN, [])
  begun.catch(() => {})
  for (const [at, breath] of breaths.entries()) {
    const answers = breath.flatMap(({ how, steps }) =>
      (how === 'runAll' ? apart(steps) : [steps]).map(group => {
        const texts = group.map(({ sql }) => sql)
        const { text, name } = postgresText(how === 'runAll' ? joinedText(texts, true) : texts[0]!)
        return send(
          text,
          name,
          group.flatMap(step => step.values),
        )
      }),
    )
    if (at === breaths.length - 1) answers.push(send('COMMIT', 'COMMIT', []))
    const ended = (await Promise.all(answers)).at(-1)!
    if (at === breaths.length - 1 && ended.command !== 'COMMIT') throw new Error(`It ended by ${ended.command}`)
  }
}

async function overPg(url: string, connections: number): Promise<Transact> {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    pipeline: true,
  })
  const number = (text: string) => Number(text)
  const types = {
    getTypeParser: (oid: number, format: never) => (oid === 20 ? number : pg.types.getTypeParser(oid, format)),
  } as pg.CustomTypesConfig
  return async breaths => {
    const client = await pool.connect()
    try {
      await transact((text, name, values) => client.query({ text, name, values, types }), breaths)
      client.release()
    } catch (error) {
      client.release(true)
      throw error
    }
  }
}

async function overPostgres(url: string, connections: number): Promise<Transact> {
  const require = createRequire(fileURLToPath(new URL('./', import.meta.url)))
  const postgres = require('postgres')
  const bigint = { to: 20, from: [20], parse: Number, serialize: String }
  // A pool of one each: on it a transaction may be begun by hand. `begin` and `reserve` wait for BEGIN and for COMMIT apart.
  const one = () => postgres(url, { max: 1, fetch_types: false, types: { bigint }, prepare: true, idle_timeout: 0 })
  const idle = Array.from({ length: connections }, one)
  return async breaths => {
    // biome-ignore lint/suspicious/noExplicitAny: its types are not installed where the code is checked
    const own = idle.pop() as any
    await transact((text, _name, values) => own.unsafe(text, values, { prepare: true, simple: false }), breaths)
    idle.push(own)
  }
}
