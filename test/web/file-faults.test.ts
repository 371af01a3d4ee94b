// engines: embedded, postgres at length; process: own
/** Each call to the disk fails once, at each step of upload and download: the marketplace goes on, and loses nothing but the request. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../src/api/records.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { loadAhead } from '../../src/web/load-ahead.ts'
import { type FaultCode, lastTrip, openFilesIn, withFault } from '../support/file-faults.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { PATIENCE_MS, until } from '../support/patience.ts'
import { samples } from './files.ts'

const CODES: readonly FaultCode[] = ['ENOSPC', 'EIO', 'EMFILE', 'ENOENT']
/** More calls than any of them makes. */
const MOST = 200

const uncaught: string[] = []
process.on('unhandledRejection', error => uncaught.push(String((error as Error)?.stack ?? error)))
process.on('uncaughtException', error => uncaught.push(String(error.stack)))

// As a deployment does at its start: an import that failed once would go on failing.
await loadAhead({ mail: null })

const folder = mkdtempSync(join(tmpdir(), 'marketplace-faults-'))
const log: LogEntry[] = []
const marketplace = await openTestMarketplace({ filesFolder: folder, log: line => log.push(line) })
/** Of the marketplace itself: beside a shared database it holds its folder. */
const own = openFilesIn(folder)
const buyer = await marketplace.join('buyer', 1_000_000)
const builder = await marketplace.join('builder')
const agent = await marketplace.list(builder)
const test = suite('file faults')
test.after(async () => {
  await marketplace.close()
  rmSync(folder, { recursive: true })
})

async function accepted(): Promise<string> {
  const { id } = await marketplace.draft(buyer, agent, { agreedPrice: 200 })
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await builder.call('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key')
  return id
}

const keyed = () => ({ authorization: `Bearer ${builder.key}` })

async function upload(id: string): Promise<{ status: number; text: string }> {
  const form = new FormData()
  for (const kind of ['png', 'csv']) form.append('files', new Blob([new Uint8Array(samples[kind]!)]), `a.${kind}`)
  const body = { method: 'POST', headers: keyed(), body: form, signal: AbortSignal.timeout(PATIENCE_MS) }
  const answer = await fetch(`${marketplace.url}/api/agent/tasks/${id}/deliver`, body)
  return { status: answer.status, text: await answer.text() }
}

/** On a connection of its own: one that is cut off behind a whole answer would take the next request with it. */
const download = (url: string) =>
  fetch(`${marketplace.url}${url}`, {
    headers: { ...keyed(), connection: 'close' },
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).then(
    async answer => ({ status: answer.status, text: await answer.text() }),
    () => ({ status: 0, text: '' }),
  )

async function settled(): Promise<void> {
  await until(
    () => `no descriptor is left after ${lastTrip.call}`,
    () => openFilesIn(folder) === own,
  )
  assert.equal(uncaught, [])
}

const arriving = () => readdirSync(join(folder, 'incoming'))

for (const code of CODES) {
  test(`an upload during which a call fails with ${code} is taken or answered 500, and the next one is taken`, async () => {
    const seen = new Set<string>()
    let id = await accepted()
    for (let nth = 1; nth < MOST; nth++) {
      let answer = { status: 0, text: '' }
      const { call } = await withFault(nth, code, async () => {
        answer = await upload(id)
        await settled()
      })
      const told = `${call} (${nth}): ${answer.status} ${answer.text}`
      if (call === null) {
        assert.is(answer.status, 200, told)
        break
      }
      seen.add(call)
      assert.ok(answer.status === 200 || answer.status === 500, told)
      if (answer.status === 500) assert.match(answer.text, /^\{"success":false,"error":"Something went wrong/, told)
      // What could not be removed is the start's to remove.
      if (call !== 'promises.rm') assert.equal(arriving(), [], told)
      if (answer.status === 200) id = await accepted()
    }
    for (const call of ['open', 'promises.rm', 'promises.rename', 'handle.sync'])
      assert.ok(seen.has(call), `no ${call}`)
    assert.ok([...seen].some(call => call.startsWith('write')))
    assert.ok(seen.size >= 6, String([...seen]))
  })

  test(`a download during which a call fails with ${code} is answered 500 or cut off, and loses no descriptor`, async () => {
    const id = await accepted()
    const { data } = JSON.parse((await upload(id)).text) as { data: { task: TaskRecord } }
    const { url } = data.task.deliverable!.files[1]!
    let tripped = 0
    for (let nth = 1; nth < MOST; nth++) {
      let answer = { status: 0, text: '' }
      const { call } = await withFault(nth, code, async () => {
        answer = await download(url)
        await settled()
      })
      if (call === null) {
        assert.is(answer.status, 200)
        break
      }
      tripped++
      const told = `${call}: ${answer.status} ${answer.text}`
      assert.ok([0, 200, 500].includes(answer.status), told)
      if (call === 'promises.open') assert.is(answer.status, 500, told)
      assert.is((await download(url)).status, 200, told)
    }
    assert.ok(tripped >= 2)
  })
}

test('what failed is in the log, with the words of the system', () => {
  const errors = log.filter(({ type }) => type === 'error') as Extract<LogEntry, { type: 'error' }>[]
  for (const code of CODES)
    assert.ok(
      errors.some(({ message }) => message.startsWith(`${code}:`)),
      code,
    )
  assert.ok(
    log.some(
      ({ type, ...line }) => type === 'warning' && 'message' in line && /could not be removed/.test(line.message),
    ),
  )
})

test.run()
