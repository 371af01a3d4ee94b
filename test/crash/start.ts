/** How long a start takes with a long journal behind it. */
import { stat } from 'node:fs/promises'
import * as assert from 'uvu/assert'
import { Caller } from './caller.ts'
import { type Deployment, withDeployment } from './deployment.ts'
import { readFileAfterCrash } from './stored-state.ts'

export interface StartReport {
  records: number
  journalBytes: number
  /** From the start of the process to its ready line, of `serve`, several times, in ms. */
  readyMs: number[]
}

/** Has that many tasks created over HTTP, kills the server, starts it again. Throws unless all of them are there. */
export const startAfter = (folder: string, records: number, starts: number): Promise<StartReport> =>
  withDeployment(folder, null, deployment => start(deployment, records, starts))

async function start(deployment: Deployment, records: number, starts: number): Promise<StartReport> {
  let running = await deployment.start('dev')
  const { accounts, agents } = running.ready
  const credential = { authorization: `Bearer ${accounts.buyer.apiKey}` }
  const titles: string[] = []
  const client = async () => {
    const caller = new Caller(running.url)
    caller.credential = credential
    while (titles.length < records) {
      const title = `Task ${titles.length}`
      titles.push(title)
      const description = 'One of many that were created.'
      await caller.call('POST', '/api/tasks', { agentId: agents[0].id, title, description, agreedPrice: 200 })
    }
    caller.close()
  }
  await Promise.all(Array.from({ length: 16 }, client))
  await running.kill('SIGKILL')

  const { tasks, journalRecords } = await readFileAfterCrash(deployment.file)
  assert.equal([...tasks.values()].map(({ title }) => title).sort(), titles.sort())
  assert.ok(journalRecords >= records, `${journalRecords} records in the journals`)
  const readyMs: number[] = []
  for (let i = 0; i < starts; i++) {
    running = await deployment.start('serve')
    readyMs.push(Math.round(running.readyMs))
    const caller = new Caller(running.url)
    caller.credential = credential
    assert.is((await caller.call('GET', '/api/tasks?limit=1')).pagination.total, records)
    caller.close()
    await running.kill('SIGKILL')
  }
  return { records: journalRecords, journalBytes: (await stat(`${deployment.file}.journal`)).size, readyMs }
}
