// engines: embedded; process: shared
/** The demo holds what it promises, and the database commands hold on a real database. */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sameAsKept } from '../support/golden.ts'
import { inFolder, run, startDev } from './program.ts'

test(
  'the demo ends with 0 and books that add up',
  inFolder(async folder => {
    const { code, out, err } = await run(['demo', '--json'], folder)
    assert.is(code, 0, err + out)
    const lines = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    const end = lines.pop()
    assert.is(end.type, 'end')
    assert.is(end.ok, true)
    assert.is(end.ledger.ok, true)
    assert.ok(lines.length > 10)
    assert.ok(lines.every(({ type }) => type === 'step'))
  }),
)

test(
  'the demo is a readable story without --json, also where Node makes no code of text',
  inFolder(async folder => {
    const { code, out } = await run(['demo'], folder, { NODE_OPTIONS: '--disallow-code-generation-from-strings' })
    assert.is(code, 0, out)
    sameAsKept('test/cli/demo.txt', out.replace(/(localhost|127\.0\.0\.1):\d+/g, '$1:…').replace(/\d+\.\d s\b/g, '… s'))
    assert.match(out, /Everything adds up.*\n.* agent of your own: marketplace dev --forward-to http:\S+\n$/)
  }),
)

test(
  'a demo whose agent does not do what it should ends with 1 and what differed, long before anybody gives up',
  inFolder(async folder => {
    // The agent's process ends at its first webhook.
    writeFileSync(
      join(folder, 'leaves.mjs'),
      `import { Server } from 'node:http'
      if (process.argv[1]?.endsWith('sample.mjs')) {
        const { emit } = Server.prototype
        let asked = 0
        Server.prototype.emit = function (event, ...more) {
          if (event === 'request' && ++asked === 1) process.exit(0)
          return emit.call(this, event, ...more)
        }
      }`,
    )
    const env = { NODE_OPTIONS: `--import=${join(folder, 'leaves.mjs')}` }
    const { code, out } = await run(['demo', '--json'], folder, env)
    assert.is(code, 1, out)
    const end = JSON.parse(out.trim().split('\n').at(-1)!)
    assert.is(end.type, 'end')
    assert.is(end.ok, false)
    assert.match(end.reason, 'connection test')
    const told = await run(['demo'], folder, env)
    assert.is(told.code, 1)
    assert.ok(told.err.includes(end.reason.split(' ')[0]), told.err)
    assert.not.match(told.out, 'Everything adds up')
  }),
)

test(
  'a database is checked and folded into one file; a damaged one is told and fails',
  inFolder(async folder => {
    const db = '.marketplace/dev.db'
    const { stop } = await startDev(folder)
    const busy = await run(['db', 'check', db], folder)
    assert.is(busy.code, 1)
    assert.match(busy.err, 'is in use by process')
    await stop()

    const checked = JSON.parse((await run(['db', 'check', db, '--json'], folder)).out)
    assert.is(checked.ok, true)
    assert.ok(checked.journalRecords > 0)
    assert.ok(checked.ledger.entries > 0)

    assert.is((await run(['db', 'snapshot', db], folder)).code, 0)
    assert.not(existsSync(join(folder, `${db}.journal`)))
    copyFileSync(join(folder, db), join(folder, 'copy.db'))
    const copy = await run(['db', 'check', 'copy.db'], folder)
    assert.is(copy.code, 0, copy.err)
    assert.match(copy.out, 'copy.db is whole')

    writeFileSync(join(folder, 'copy.db'), readFileSync(join(folder, db)).fill(7, 4096, 20_000))
    assert.is((await run(['db', 'check', 'copy.db'], folder)).code, 3)
    const missing = await run(['db', 'check', 'nowhere.db'], folder)
    assert.is(missing.code, 1)
    assert.match(missing.err, 'There is no database')
  }),
)

test.run()
