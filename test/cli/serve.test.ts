// engines: embedded; process: shared; lengths: short, long
/** A deployment: its first line, its end, and what it refuses. Source. */
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isLong } from '../support/length.ts'
import { startObjectStore } from '../support/object-store.ts'
import { refusalIn } from './deployment.ts'
import { inFolder, run, runRefused, start } from './program.ts'

const SERVE = ['serve', '--port', '0', '--json']

test(
  'the ready line tells where it is, SIGTERM ends it with 0, and a second start finds what was kept',
  inFolder(async folder => {
    const admin = { MARKETPLACE_ADMIN_EMAIL: ' Root@Example.com', MARKETPLACE_ADMIN_PASSWORD: 'correct horse' }
    for (const env of [admin, { MARKETPLACE_EGRESS_ALLOW: '10.0.0.0/8' }]) {
      const { child, ended, firstLine } = start(SERVE, folder, env)
      const ready = JSON.parse(await firstLine)
      assert.equal(ready, { type: 'ready', mode: 'serve', url: ready.url, db: 'marketplace.db', pid: child.pid })
      assert.is((await fetch(`${ready.url}/readyz`)).status, 200)
      const { headers } = await fetch(`${ready.url}/api/agents`)
      assert.is(headers.get('ratelimit-policy'), '"search";q=30;w=60')
      const login = await fetch(`${ready.url}/api/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'root@example.com', password: 'correct horse' }),
      })
      assert.is(login.status, 200)
      child.kill('SIGTERM')
      const { code, out, err } = await ended
      assert.is(code, 0, err)
      for (const line of out.trim().split('\n')) assert.type(JSON.parse(line), 'object')
      assert.match(out, 'No mail is configured')
      assert.is(out.includes('Webhooks may go to 10.0.0.0/8 too (MARKETPLACE_EGRESS_ALLOW)'), env !== admin)
      assert.not(existsSync(join(folder, 'marketplace.db.lock')))
    }
    assert.is(statSync(join(folder, 'marketplace.db.key')).mode & 0o777, 0o600)
  }),
)

test(
  'a second process on the same file, a port that is taken, and a wrong secret key are refused by a sentence',
  inFolder(async folder => {
    const { child, ended, firstLine } = start(SERVE, folder)
    const { port } = new URL(JSON.parse(await firstLine).url)
    const second = await run(SERVE, folder)
    assert.is(second.code, 1)
    assert.is(second.err, '')
    assert.match(refusalIn(second.out), `in use by process ${child.pid} (marketplace serve`)
    const taken = await runRefused(['serve', '--db', 'other.db', '--port', port], folder)
    assert.is(taken.code, 1)
    assert.match(taken.err, `Port ${port} is in use`)
    child.kill('SIGINT')
    assert.is((await ended).code, 0)
    writeFileSync(join(folder, 'marketplace.db.key'), Buffer.alloc(32, 1).toString('base64'))
    const wrong = await run(SERVE, folder)
    assert.is(wrong.code, 1)
    assert.match(refusalIn(wrong.out), 'The secret key is not the one')
  }),
)

if (isLong) {
  test(
    'files go to the object store that is named, which is tried at the start; what it refuses ends the start, in a sentence',
    inFolder(async folder => {
      const store = await startObjectStore()
      const args = [...SERVE, '--files', store.address]
      const { child, ended, firstLine } = start(args, folder, store.env)
      await firstLine
      assert.equal(
        store.asked.map(line => line.split(/[ _]/)[0]),
        ['PUT', 'GET', 'DELETE'],
      )
      assert.not(existsSync(join(folder, 'marketplace.db.files')))
      child.kill('SIGTERM')
      const { code, out } = await ended
      assert.is(code, 0)
      assert.not.match(out, store.env.AWS_SECRET_ACCESS_KEY!)
      const secret = 'a secret that is not the right one'
      const refused = await run(args, folder, { ...store.env, AWS_SECRET_ACCESS_KEY: secret })
      assert.is(refused.code, 1)
      assert.match(refusalIn(refused.out), 'SignatureDoesNotMatch')
      assert.not.match(refused.out, secret)
      await store.close()
      const away = await run(args, folder, store.env)
      assert.is(away.code, 1)
      assert.match(refusalIn(away.out), "can't be reached")
    }),
  )
}

test.run()
