// engines: embedded; process: shared
/** A builder's commands against a simulator in the same folder: what they find, print and refuse. */
import { writeFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { answerHere, enterDev, runHere } from './in-process.ts'
import { inFolder, run, start } from './program.ts'

// The tests with a folder of their own come last: each ends what still runs.
const dev = enterDev(test)

test('commands find the dev of their folder and its keys; the one that works is listed first', async () => {
  const { ready } = dev
  const own = await answerHere('agents', 'list')
  assert.is(own.code, 0)
  assert.is(own.data.items.length, 3)
  const listed = await answerHere('call', 'GET', '/api/agents')
  assert.is(listed.data.items[0].slug, 'sample-agent')

  const table = await runHere('agents', 'list')
  assert.match(table.out, /^SLUG +STATUS +PRICE +LISTED/)
  assert.match(table.out, /^sample-agent +verified +5\.00 +yes/m)
  assert.is(table.err, '', 'nothing is said beside the result where nobody looks')

  const shown = await answerHere('agents', 'show', 'sample-agent')
  assert.is(shown.data.id, ready.agents[0].id)
  assert.is(shown.data.webhookUrl, ready.agents[0].webhookUrl)
  assert.not('webhookUrl' in (await answerHere('agents', 'show', 'sample-agent', '--as', 'buyer')).data)
  assert.match((await runHere('agents', 'show', ready.agents[0].id)).out, /^secret +there is one/m)

  await runHere('test-connection', 'sample-agent')
  const checks = await runHere('agents', 'checks', 'sample-agent')
  assert.match(checks.out, /^TESTED AT|^\S.* TESTED AT/m)
  assert.not.match(checks.out, /undefined|\[object/)

  const asked = await runHere('secret', 'rotate', 'silent-analyst', '--grace-hours', '1')
  assert.is(asked.code, 2)
  assert.match(asked.err, /silent-analyst is listed\. A new secret hides it .* Add --yes/)
  const rotated = await runHere('secret', 'rotate', 'silent-analyst', '--grace-hours', '1', '--yes')
  assert.match(rotated.out, /^whsec_\S{44}\n$/)
  assert.match(rotated.err, 'taken for 1 h')
})

test('a refusal names what, why and what helps, to people and to programs, and has its own exit code', async () => {
  const { ready } = dev
  const nobody = await runHere('agents', 'show', 'nobody')
  assert.is(nobody.code, 1)
  assert.match(nobody.err, 'There is no agent nobody')
  assert.match(nobody.err, 'marketplace agents list')

  const foreign = await answerHere('agents', 'publish', 'sample-agent', '--as', 'buyer')
  assert.is(foreign.code, 4)
  assert.is(foreign.success, false)
  assert.is(foreign.status, 403)
  assert.match(foreign.hint, '--as builder')

  const early = await answerHere('agents', 'publish', 'sample-agent')
  assert.is(early.code, 1)
  assert.is(early.status, 400)

  const unknown = await run(['agents', 'list'], dev.folder, { MARKETPLACE_KEY: `svc_${'0'.repeat(48)}` })
  assert.is(unknown.code, 4)
  assert.match(unknown.err, 'does not know the key of MARKETPLACE_KEY')
  const flagFirst = ['agents', 'list', '--key', ready.accounts.builder.apiKey]
  assert.is((await run(flagFirst, dev.folder, { MARKETPLACE_KEY: 'svc_wrong' })).code, 0)
  const elsewhere = await runHere('agents', 'list', '--url', ready.url.replace('127.0.0.1', 'localhost'))
  assert.is(elsewhere.code, 4, 'the keys of a dev go to its own address alone')
})

test('call sends a body from a flag, a file or stdin, and prints the answer as it is', async () => {
  const post = ['call', 'post', '/api/my/api-keys', '--data']
  const made = await answerHere(...post, '{"name": "one"}')
  assert.is(made.code, 0)
  assert.is(made.data.keyInfo.name, 'one')
  writeFileSync('two.json', '{"name": "two"}')
  assert.is((await answerHere(...post, '@two.json')).data.keyInfo.name, 'two')
  const three = await run([...post, '-', '--json'], dev.folder, {}, '{"name": "three"}')
  assert.is(JSON.parse(three.out).data.keyInfo.name, 'three')

  const invalid = await runHere(...post, '{}')
  assert.is(invalid.code, 1)
  assert.equal(JSON.parse(invalid.out).errors, { name: ['is required'] })
  assert.match((await runHere('call', 'GET', '/openapi.json')).out, '"openapi": "3.1')
  assert.is((await runHere('call', 'GET', '/api/nothing')).code, 1)
  for (const [args, words] of [
    [['call', 'PATCH', '/api/agents'], 'METHOD is GET, POST, PUT, DELETE'],
    [['call', 'GET', 'http://elsewhere/api'], '--url'],
    [[...post, '{name: 1}'], 'is not JSON'],
    [[...post, '@absent.json'], 'there is no such file'],
    [['agents', 'list', '--as', 'king'], '--as takes buyer or builder or admin'],
    [['agents', 'list', '--url', 'ftp://x'], '--url takes an address'],
    [['agents', 'list', '--key', 'secret'], '--key takes an API key'],
  ] as const) {
    const { code, err, out } = await runHere(...args)
    assert.is(code, 2, err)
    assert.match(err, words)
    assert.is(out, '')
  }
})

test('Ctrl-C ends a wait with 130 and says what is left', async () => {
  const { child, ended, firstLine } = start(['simulate', 'buyer', 'silent-translator'], dev.folder)
  assert.match(await firstLine, 'Submitted')
  child.kill('SIGINT')
  const { code, err } = await ended
  assert.is(code, 130)
  assert.match(err, /Interrupted\. Task task_\w+ stays as it is/)
})

test('a dev that has ended is told from one that was never there', async () => {
  await dev.stop()
  const { code, err } = await runHere('agents', 'list')
  assert.is(code, 5)
  assert.match(err, 'does not answer')
  assert.match(err, 'start `marketplace dev` again')
})

test(
  'without a dev, a flag or a variable a command says how it can be told where to go',
  inFolder(async folder => {
    const { code, err, out } = await run(['agents', 'list'], folder)
    assert.is(code, 2)
    assert.is(out, '')
    assert.match(err, 'marketplace dev')
    assert.match(err, 'MARKETPLACE_URL')
  }),
)

test(
  'db migrate makes or updates a file, and says what it did',
  inFolder(async folder => {
    const first = JSON.parse((await run(['db', 'migrate', 'a.db', '--json'], folder)).out)
    assert.ok(first.applied.length > 5)
    assert.match((await run(['db', 'migrate', 'a.db'], folder)).out, 'a.db is up to date.')
    assert.is((await run(['db', 'check', 'a.db'], folder)).code, 0)
    const gone = await run(['db', 'migrate', 'postgres://ann:secret@127.0.0.1:1/y'], folder)
    assert.is(gone.code, 1)
    assert.match(gone.err, "Postgres can't be reached (database y at 127.0.0.1:1 as ann)")
    assert.not.match(gone.err, 'secret')
  }),
)

test.run()
