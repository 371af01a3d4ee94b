/** Where mutants are tried: the bundled tests of a workshop, a Postgres for those that need one, and workers beside each other. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { type Bundle, bundleTests, type Runner } from '../support/bundle.ts'
import { makeTemplate } from '../support/databases.ts'
import type { Job } from '../support/jobs.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { TestProcess } from './test-process.ts'

/** Stacks are read by nobody here, and to map one takes longer than most tests. */
export const RUNNER: Runner = {
  worker: 'test/mutation/trial-process.ts',
  uvu: 'test/mutation/uvu.ts',
  sourceMaps: false,
}

export class Bench {
  readonly folder: string
  readonly #workers: number
  readonly #bundle: Bundle
  readonly #server: PostgresServer
  readonly #template: { name: string }
  readonly #onPostgres = new WeakSet<TestProcess>()

  private constructor(
    folder: string,
    workers: number,
    bundle: Bundle,
    server: PostgresServer,
    template: { name: string },
  ) {
    this.folder = folder
    this.#workers = workers
    this.#bundle = bundle
    this.#server = server
    this.#template = template
  }

  /** This process goes into the folder, as its paths are those of the project. */
  static async open(folder: string, files: readonly string[], workers: number): Promise<Bench> {
    process.chdir(folder)
    const bundle = await bundleTests(files, RUNNER)
    const server = await startPostgres()
    return new Bench(folder, workers, bundle, server, await makeTemplate(server.url))
  }

  /** A template is made by the migrations as they are: whoever changes those goes without. */
  start({ engine, shares }: Job, worker: string, env: NodeJS.ProcessEnv, template = true): TestProcess {
    const temporary = join(this.folder, `tmp-${worker}`)
    mkdirSync(temporary, { recursive: true })
    const process = new TestProcess(this.#bundle, {
      TEST_ENGINE: engine,
      TEST_DATABASE_URL: this.#server.url,
      ...(template && { TEST_TEMPLATE: this.#template.name }),
      ...(shares && { TEST_QUICK_PASSWORDS: 'on' }),
      TMPDIR: temporary,
      ...env,
    })
    if (engine === 'postgres') this.#onPostgres.add(process)
    return process
  }

  /** With all that its tests have left behind. */
  async stop(process: TestProcess): Promise<void> {
    await process.end()
    if (!this.#onPostgres.has(process)) return
    const client = new pg.Client(this.#server.url)
    await client.connect()
    const { rows } = await client.query('SELECT datname FROM pg_database WHERE datname LIKE $1', [
      `test\\_${process.pid}\\_%`,
    ])
    for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`)
    await client.end()
  }

  /** The work of all items, as many at once as there are workers. */
  async inWorkers<T, R>(items: readonly T[], work: (item: T, worker: string) => Promise<R>): Promise<R[]> {
    const queue = [...items]
    const results: R[] = []
    const run = async (_: unknown, worker: number) => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        results.push(await work(item, `worker${worker}`))
        rmSync(join(this.folder, `tmp-worker${worker}`), { recursive: true, force: true })
      }
    }
    await Promise.all(Array.from({ length: this.#workers }, run))
    return results
  }

  async close(): Promise<void> {
    this.#bundle.remove()
    await this.#server.stop()
  }
}
