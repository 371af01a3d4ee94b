// engines: postgres; process: own; lengths: long
/** A second `serve` on one Postgres: refused while files are in a folder, welcome with an object store. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../support/databases.ts'
import { startObjectStore } from '../support/object-store.ts'
import { inFolder, run, start } from './program.ts'

test(
  'with a folder it is refused in a sentence; who was killed is succeeded in its folder at once; with an object store both run',
  inFolder(async folder => {
    const { url, drop } = await freshDatabase()
    const store = await startObjectStore()
    const env = { ...store.env, MARKETPLACE_SECRET_KEY: randomBytes(32).toString('base64') }
    const serve = ['serve', '--db', url, '--db-pool', '2', '--port', '0', '--json']
    const first = start(serve, folder, env)
    await first.firstLine
    for (const more of [[], ['--files', 'elsewhere'], ['--files', store.address]]) {
      const { code, out, err } = await run([...serve, ...more], folder, env)
      assert.is(code, 1)
      assert.is(err, '')
      assert.match(
        JSON.parse(out).message,
        /^Another instance .*\(marketplace serve on 127\.0\.0\.1:0, process \d+ of .*--files s3:\/\/bucket/,
      )
    }
    first.child.kill('SIGKILL')
    await first.ended
    const successor = start(serve, folder, env)
    await successor.firstLine
    assert.ok(existsSync(join(folder, 'marketplace.files')))
    successor.child.kill('SIGTERM')
    assert.is((await successor.ended).code, 0)

    const shared = [...serve, '--files', store.address]
    const both = [start(shared, folder, env), start(shared, folder, env)]
    for (const { firstLine, ended } of both) {
      const line = await firstLine.catch(async () => assert.unreachable((await ended).out))
      assert.is(JSON.parse(String(line)).type, 'ready')
    }
    for (const { child } of both) child.kill('SIGTERM')
    for (const { ended } of both) assert.is((await ended).code, 0)
    await Promise.all([drop(), store.close()])
  }),
)

test.run()
