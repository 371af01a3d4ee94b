// engines: embedded; process: shared; lengths: long
/** Files of deliverables in an object store, over the wire: all that holds of a folder, and a store that fails. */
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { dropFiles, keepFiles } from '../../src/market/tasks/files.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { type Fault, startObjectStore } from '../support/object-store.ts'
import { uploadCases } from './upload-cases.ts'

const store = await startObjectStore()
const marketplace = await openTestMarketplace({ bucket: store.bucket })
const { incoming } = marketplace.market.files

const test = suite('uploads to an object store')
test.after(async () => {
  await marketplace.close()
  await store.close()
})

// A thousand are parsed in uploads.test.ts; of these, some get as far as the store.
await uploadCases(test, marketplace, async () => [...(await store.keys()), ...(await readdir(incoming))], 200)

const busy: Fault = (_, res) => res.writeHead(503).end()
const four = [busy, busy, busy, busy]

test('while the store is away an upload gets 500 and leaves nothing behind; its repeat then succeeds', async () => {
  const user = await marketplace.join('builder-of-one')
  const agent = await marketplace.list(user)
  const buyer = await marketplace.join('buyer-of-one', 10_000)
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await user.call('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key')
  const before = await store.keys()
  const upload = async () => {
    const form = new FormData()
    form.append('files', new Blob(['a,b\n']), 'table.csv')
    const headers = { authorization: `Bearer ${user.key}`, 'idempotency-key': 'once' }
    return fetch(`${marketplace.url}/api/agent/tasks/${id}/deliver`, { method: 'POST', headers, body: form })
  }
  store.faults.push(...four)
  const away = await upload()
  assert.is(away.status, 500)
  assert.is(((await away.json()) as { success: boolean }).success, false)
  assert.equal(await store.keys(), before)
  assert.is((await upload()).status, 200)
  assert.is((await store.keys()).length, before.length + 1)
})

test('what could not be removed while the store was away is removed an hour later', async () => {
  const before = await store.keys()
  const path = join(incoming, 'file_later')
  await writeFile(path, 'later')
  await keepFiles(marketplace.market, [{ id: 'file_later', path }])
  store.faults.push(...four)
  await dropFiles(marketplace.market, [{ id: 'file_later' }])
  assert.equal((await store.keys()).sort(), [...before, 'file_later'].sort())
  marketplace.world.tick(61 * 60_000)
  store.faults.push(...four)
  await marketplace.runDue()
  assert.ok((await store.keys()).includes('file_later'), 'the store was away again')
  marketplace.world.tick(61 * 60_000)
  await marketplace.runDue()
  assert.equal((await store.keys()).sort(), before.sort())
})

test('nothing is left among what arrives, nor of the check at the start', async () => {
  assert.equal(await readdir(incoming), [])
  assert.equal(
    (await store.keys()).filter(key => !key.startsWith('file_')),
    [],
  )
})

test.run()
