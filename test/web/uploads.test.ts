// engines: embedded, postgres at length; process: shared; lengths: short, long
/** Files of deliverables in a folder of this machine, over the wire. Source: I-deliverable-input, I-agent-routes, A-19, A-21, A-22. */
import { readdir } from 'node:fs/promises'
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

test.run()
