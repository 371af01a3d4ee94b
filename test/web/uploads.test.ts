// engines: embedded, postgres at length; process: shared; lengths: short, long
/** Files of deliverables in a folder of this machine, over the wire. Source: I-deliverable-input, I-agent-routes, A-19, A-21, A-22. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { engine } from '../support/databases.ts'
import { amount } from '../support/length.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { uploadCases } from './upload-cases.ts'

const marketplace = await openTestMarketplace()
const { incoming } = marketplace.market.files

const test = suite('uploads')
test.after(() => marketplace.close())

async function onDisk(): Promise<string[]> {
  const [kept, arriving] = await Promise.all([readdir(join(incoming, '..')), readdir(incoming)])
  return [...kept.filter(name => name.startsWith('file_')), ...arriving]
}

// They are refused before a row is written: on a server, some show that.
await uploadCases(test, marketplace, onDisk, engine === 'embedded' ? amount({ short: 200, long: 1_000 }) : 200)

test('nothing is left among what arrives', async () => {
  assert.equal(await readdir(incoming), [])
})

test('what is kept can be read by nobody else on the machine', async () => {
  const folder = join(incoming, '..')
  const kept = (await readdir(folder)).filter(name => name.startsWith('file_'))
  assert.ok(kept.length > 0)
  const modes = await Promise.all(kept.map(async name => (await stat(join(folder, name))).mode & 0o077))
  assert.equal(new Set(modes), new Set([0]))
})

test.run()
