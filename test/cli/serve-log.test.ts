// engines: embedded; process: own; lengths: long
/** What a deployment's log tells of its start, its end and what it lacks, and what a refused start leaves. Source. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { refusalIn } from './deployment.ts'
import { inFolder, run, runRefused, start } from './program.ts'

const SERVE = ['serve', '--port', '0', '--json']

test(
  'the log of a deployment tells of its migration, its new administrator, its start and its end',
  inFolder(async folder => {
    const admin = { MARKETPLACE_ADMIN_EMAIL: 'root@example.com', MARKETPLACE_ADMIN_PASSWORD: 'correct horse' }
    const told = []
    for (const env of [admin, {}]) {
      const { child, ended, firstLine } = start(SERVE, folder, env)
      const { url } = JSON.parse(await firstLine)
      child.kill('SIGTERM')
      const lines = (await ended).out
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
      const of = (type: string) => lines.filter(line => line.type === type)
      told.push(['migration', 'administrator', 'start', 'stop'].map(type => of(type).length))
      for (const { from, to, applied } of of('migration')) {
        assert.is(from, 0)
        assert.ok(applied.length > 5 && to >= applied.length)
      }
      for (const { email } of of('administrator')) assert.is(email, 'root@example.com')
      const [begun, stopped] = [of('start')[0], of('stop')[0]]
      assert.is(begun.url, url)
      assert.not.ok(
        of('warning').some(({ message }) => /base URL/.test(message)),
        'on loopback nobody listens in',
      )
      assert.is(begun.engine, 'embedded')
      assert.is(begun.db, 'marketplace.db')
      assert.match(begun.version, /^\d+\.\d+\.\d+$/)
      assert.is(stopped.reason, 'SIGTERM')
      assert.type(stopped.ms, 'number')
      assert.is(lines.at(-1).type, 'stop')
    }
    assert.equal(told, [
      [1, 1, 1, 1],
      [0, 0, 1, 1],
    ])
  }),
)

test(
  'a deployment without any administrator, or whose base URL has no TLS, says so at its start, and what to do',
  inFolder(async folder => {
    const { child, ended, firstLine } = start([...SERVE, '--base-url', 'http://market.example'], folder)
    await firstLine
    child.kill('SIGTERM')
    const { out } = await ended
    assert.match(out, 'There is no administrator')
    assert.match(out, 'MARKETPLACE_ADMIN_EMAIL and MARKETPLACE_ADMIN_PASSWORD')
    assert.match(out, 'The base URL is http://market.example: passwords, sessions and keys can be read on their way')
  }),
)

test(
  'a start that is refused leaves nothing where nothing was, and all that was there',
  inFolder(async folder => {
    const first = start(SERVE, folder)
    const { port } = new URL(JSON.parse(await first.firstLine).url)
    const before = readdirSync(folder).sort()
    const taken = ['serve', '--json', '--port', port]
    assert.match(refusalIn((await run([...taken, '--db', 'new.db'], folder)).out), 'is in use')
    assert.equal(readdirSync(folder).sort(), before)
    // What somebody has put there, or used before, stays.
    writeFileSync(join(folder, 'kept.db.key'), Buffer.alloc(32, 7).toString('base64'))
    mkdirSync(join(folder, 'kept.db.files'))
    assert.is((await run([...taken, '--db', 'kept.db'], folder)).code, 1)
    assert.equal(readdirSync(folder).sort(), [...before, 'kept.db.files', 'kept.db.key'].sort())
    assert.is((await run(['db', 'migrate', 'used.db'], folder)).code, 0)
    const journal = readFileSync(join(folder, 'used.db.journal')).length
    assert.is((await run([...taken, '--db', 'used.db'], folder)).code, 1)
    assert.ok(readFileSync(join(folder, 'used.db.journal')).length >= journal)
    first.child.kill('SIGTERM')
    await first.ended
  }),
)

test(
  'off a terminal both streams of a deployment are JSON alone, whether it starts or is refused',
  inFolder(async folder => {
    const { child, ended } = start(['serve', '--port', '0'], folder)
    let said = ''
    child.stderr!.on('data', chunk => (said += chunk))
    while (!said.includes('"start"')) await new Promise(resolve => setTimeout(resolve, 20))
    const refused = await runRefused(['serve', '--port', '0'], folder)
    child.kill('SIGTERM')
    const served = await ended
    assert.is(served.code, 0)
    assert.is(served.out, '')
    for (const line of [...served.err.trim().split('\n'), ...refused.err.trim().split('\n')]) {
      assert.type(JSON.parse(line).type, 'string')
    }
    assert.match(refusalIn(refused.err), 'in use by process')
    const usage = await runRefused(['serve', '--port', '70000', '--json'], folder)
    assert.is(usage.code, 2)
    assert.match(refusalIn(usage.out), '--port takes a number')
  }),
)

test.run()
