// engines: embedded; process: shared; lengths: short, long
/** A deployment: its first line, its end, and what it refuses. Source. */
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { version } from '../../src/settings/config.ts'
import { isLong } from '../support/length.ts'
import { startObjectStore } from '../support/object-store.ts'
import { refusalIn } from './deployment.ts'
import { inFolder, run, runRefused, start } from './program.ts'

const SERVE = ['serve', '--port', '0', '--json']

const NO_MAIL = 'No mail is configured (MARKETPLACE_SMTP_URL, MARKETPLACE_MAIL_FROM): nobody can reset a password.'
const ONE_FACTOR =
  'The administrator  signed in without a second factor; npx agent-marketplace account totp begin turns one on.'
const WAY_OUT =
  'Webhooks may go to 10.0.0.0/8 too (MARKETPLACE_EGRESS_ALLOW): every builder can reach what listens there.'
const NO_TLS =
  'The base URL is http://market.example: passwords, sessions and keys can be read on their way. Put TLS in front and say --base-url https://…'

test(
  'the ready line tells where it is, SIGTERM ends it with 0, and a second start finds what was kept',
  inFolder(async folder => {
    const admin = { MARKETPLACE_ADMIN_EMAIL: ' Root@Example.com', MARKETPLACE_ADMIN_PASSWORD: 'correct horse' }
    const open = ['--base-url', 'http://market.example', '--metrics-port', '0']
    for (const env of [admin, { MARKETPLACE_EGRESS_ALLOW: '10.0.0.0/8' }]) {
      const { child, ended, firstLine } = start(env === admin ? SERVE : [...SERVE, ...open], folder, env)
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
      const lines = out
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
      const { time, ms, level, ...started } = lines.find(({ type }) => type === 'start')
      const here = { url: ready.url, engine: 'embedded', db: 'marketplace.db', pid: child.pid }
      assert.equal(started, { type: 'start', version, ...here })
      assert.equal(
        lines
          .filter(({ type }) => ['info', 'warning'].includes(type))
          .map(({ message }) => message.replace(/:\d+|(?<= )usr_\w+/, '')),
        env === admin
          ? [NO_MAIL, ONE_FACTOR]
          : [WAY_OUT, 'Metrics are at http://127.0.0.1/metrics', NO_MAIL, NO_TLS, ONE_FACTOR],
      )
      const { time: _, level: __, ms: took, ...stopped } = lines.at(-1)
      assert.equal(stopped, { type: 'stop', reason: 'SIGTERM' })
      assert.type(took, 'number')
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
