// engines: embedded; process: own
/** What is private to sql.js: all of it is there, and a version without a part is refused with what to install. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreError } from '../../src/store/db.ts'
import { type Library, loadLibrary, proven } from '../../src/store/embedded/sqljs-internals.ts'

const { library, memory } = await loadLibrary()

/** The same library without a part, or with another in its place. */
const changed = (part: string, value?: unknown): Library =>
  new Proxy(library, { get: (target, name) => (name === part ? value : Reflect.get(target, name)) })

function refusal(given: Library, itsMemory: typeof memory | undefined = memory): string {
  try {
    proven(given, itsMemory)
  } catch (error) {
    assert.ok(error instanceof StoreError)
    assert.match(error.message, /sql\.js does not have .* npm install sql\.js@~1\.16\.0\. Or use Postgres/)
    return error.message
  }
  throw new Error('it was taken')
}

test('this version has all parts', () => {
  assert.is(proven(library, memory).library, library)
})

test('a version without one of the C functions is refused by its name', () => {
  assert.match(refusal(changed('_sqlite3_backup_step')), '(_sqlite3_backup_step)')
  assert.match(refusal(changed('_malloc')), '(_malloc)')
})

test('a version whose memory is not to be found is refused', () => {
  assert.match(refusal(library, null as unknown as undefined), 'a memory that can be found')
})

test('a version that copies the content of a file, or hides its pointer, is refused', () => {
  class Copying {
    db = 1
    exec() {}
    close() {}
  }
  assert.match(refusal(changed('Database', Copying)), 'files as they were')
  class Hiding extends library.Database {
    override close() {
      super.close()
      Reflect.deleteProperty(this, 'db')
    }
  }
  assert.match(refusal(changed('Database', Hiding)), 'files as they were')
})

test.run()
