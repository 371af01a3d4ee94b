// engines: embedded; process: shared
/** Rows that are asked for before it is known who asks. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { endpoints } from '../../../src/api/endpoints/index.ts'
import { prefetcherOf } from '../../../src/market/tasks/prefetch.ts'
import type { Tx } from '../../../src/store/db.ts'

test('rows that could not be read end no process where a request is refused before it takes them', async () => {
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  process.on('unhandledRejection', note)
  const fails = async () => {
    throw new Error('Postgres is away')
  }
  const tx = { get: fails, lock: fails } as unknown as Tx
  const rows = [endpoints.submitTask, endpoints.getTask, endpoints.listMessages].map(record => {
    const prefetch = prefetcherOf(record, { shared: true } as never)
    assert.ok(prefetch, record.path)
    return prefetch(tx, 'task_1')
  })
  await new Promise(resolve => setTimeout(resolve, 10))
  process.off('unhandledRejection', note)
  assert.equal(uncaught, [])
  const error = await rows[0]!.task('task_1', true)?.catch((error: Error) => error.message)
  assert.is(error, 'Postgres is away', 'and whoever takes them is told')
})

test.run()
