// engines: embedded; process: shared
/** A part of a file name that runs nothing is told: refused where no file has it, and named where its files do not run this time. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Asked, idleParts, unknownParts } from './unmatched.ts'

const files = {
  'orders.test.ts': 'engines: embedded, postgres; process: shared',
  'twins.test.ts': 'engines: postgres; process: own',
  'dear.test.ts': 'engines: embedded; process: own; lengths: long',
  'later.test.ts': 'engines: embedded, postgres at length; process: own',
}

function inFolder(work: (folder: string) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-parts-'))
  try {
    for (const [name, line] of Object.entries(files)) writeFileSync(join(folder, name), `// ${line}\n`)
    work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a part that no file has is refused, with the files whose names are like it', () =>
  inFolder(folder => {
    assert.equal(unknownParts(['orders', 'twins.test', 'dear'], folder), [])
    assert.equal(unknownParts(['shop/orders', 'nothing', 'shop/'], folder), [
      'No test file has "shop/orders" in its name. Did you mean orders.test.ts?',
      `No test file has "nothing" in its name. Names are those of ${folder}/.`,
      `No test file has "shop/" in its name. Names are those of ${folder}/.`,
    ])
  }))

test('a part whose files do not run on this engine, or in this length, is named', () =>
  inFolder(folder => {
    const told = (asked: Partial<Asked>) =>
      idleParts({ wanted: ['orders', 'twins', 'dear', 'later'], length: 'short', engine: undefined, ...asked }, folder)
    const dear = 'not run: dear is for npm run test:long alone'
    const none = (part: string, engine: string) => `not run: ${part} has nothing for --engine ${engine}; leave that out`
    assert.equal(told({}), [dear])
    assert.equal(told({ engine: 'embedded' }), [none('twins', 'embedded'), dear])
    assert.equal(told({ engine: 'postgres' }), [dear, none('later', 'postgres')])
    const short = (part: string) => `not run: ${part} is for npm test alone`
    assert.equal(told({ length: 'long' }), [short('orders'), short('twins')])
  }))

test.run()
