// engines: embedded; process: own; lengths: long
/** A full disk under load. A failing sync, which needs strace: npm run test:crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../cli/program.ts'
import { fullDisk, writeUntilItFails } from './disk.ts'

test(
  'a disk that is full ends the server with 1 and a sentence; what was answered is there at the next start',
  inFolder(async folder => {
    const { answered, code, said } = await writeUntilItFails(folder, fullDisk)
    assert.is(code, 1, said)
    assert.match(said, "market.db.journal can't be written")
    assert.match(said, 'see to the disk, then start again.')
    assert.ok(answered > 20, `${answered} answers`)
  }),
)

test.run()
