/** Where mutants are tried: the bundled tests of a workshop, a Postgres for those that need one, and workers beside each other. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { bundleTests, type Runner } from '../support/bundle.ts'
import { makeTemplate } from '../support/databases.ts'
import type { Job } from '../support/jobs.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { TestProcess } from './test-process.ts'

/** Stacks are read by nobody here, and to map one takes longer than most tests. */
export const RUNNER: Runner = {
  worker: 'test/mutation/trial-process.ts',
  uvu: 'test/mutation/uvu.ts',
  sourceMaps: false,
}

export type Bench = Awaited<ReturnType<typeof openBench>>

/** This process goes into the folder, as its paths are those of the project. */
export async function openBench(folder: string, files: readonly string[], workers: number) {
  process.chdir(folder)
  const bundle = await bundleTests(files, RUNNER)
  const server = await startPostgres()
  const { name: template } = await makeTemplate(server.url)
  const onPostgres = new WeakSet<TestProcess>()
  // Not in the folder, which is a checkout: what tests write is in none.
  const temporaries = mkdtempSync(join(tmpdir(), 'mutation-tests-'))
  process.once('exit', () => rmSync(temporaries, { recursive: true, force: true }))
  return {
    folder,

    /** A template is made by the migrations as they are: whoever changes those goes without. */
    start({ engine, length, shares }: Job, worker: string, env: NodeJS.ProcessEnv, isTemplated = true): TestProcess {
      const temporary = join(temporaries, worker)
      mkdirSync(temporary, { recursive: true })
      const process = new TestProcess(bundle, {
        TEST_ENGINE: engine,
        TEST_LENGTH: length,
        TEST_DATABASE_URL: server.url,
        ...(isTemplated && { TEST_TEMPLATE: template }),
        ...(shares && { TEST_QUICK_PASSWORDS: 'on' }),
        TMPDIR: temporary,
        ...env,
      })
      if (engine === 'postgres') onPostgres.add(process)
      return process
    },

    /** With all that its tests have left behind. */
    async stop(process: TestProcess): Promise<void> {
      await process.end()
      if (!onPostgres.has(process)) return
      const client = new pg.Client(server.url)
      await client.connect()
      const { rows } = await client.query('SELECT datname FROM pg_database WHERE datname LIKE $1', [
        `test\\_${process.pid}\\_%`,
      ])
      for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`)
      await client.end()
    },

    /** The work of all items, as many at once as there are workers. */
    async inWorkers<T, R>(items: readonly T[], work: (item: T, worker: string) => Promise<R>): Promise<R[]> {
      const queue = [...items]
      const results: R[] = []
      const run = async (_: unknown, worker: number) => {
        for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
          results.push(await work(item, `worker${worker}`))
          rmSync(join(temporaries, `worker${worker}`), { recursive: true, force: true })
        }
      }
      await Promise.all(Array.from({ length: workers }, run))
      return results
    },

    async close(): Promise<void> {
      bundle.remove()
      await server.stop()
    },
  }
}
