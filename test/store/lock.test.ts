// engines: embedded; process: own
/** One process per database: also when two start at once, and when one was killed. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreError } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { lockFile, refuseIfLocked } from '../../src/store/embedded/lock.ts'
import { loader, urlOf } from '../support/child-code.ts'
import { inFolder, unexpected } from './folder.ts'

const refusal = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => new Error('it was not refused'),
    error => error,
  )

/** A process that takes the lock, says how that went, and waits to be killed. */
const holder = (file: string) => {
  const lock = JSON.stringify(urlOf('src/store/embedded/lock.ts'))
  const code = `import(${lock}).then(m => m.lockFile(${JSON.stringify(file)}, 'serve at http://x')).then(
    () => { console.log('held'); setInterval(() => {}, 1000) }, error => { console.log(error.message); process.exit() })`
  const child = spawn(process.execPath, [...loader, '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const says = new Promise<string>(resolve => child.stdout.once('data', data => resolve(String(data).trim())))
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const kill = () => {
    child.kill('SIGKILL')
    return gone
  }
  return { child, says, kill }
}

test(
  'a second opening in the same process is refused, and allowed after the first is closed',
  inFolder(async file => {
    const db = await openSqlite({ file, onFatal: unexpected, holder: 'serve at http://127.0.0.1:3000' })
    const error = await refusal(openSqlite({ file, onFatal: unexpected }))
    assert.instance(error, StoreError)
    assert.match(error.message, `process ${process.pid} (serve at http://127.0.0.1:3000)`)
    assert.instance(await refusal(refuseIfLocked(file)), StoreError)
    await db.close()
    assert.not(existsSync(`${file}.lock`))
    await (await openSqlite({ file, onFatal: unexpected })).close()
  }),
)

test(
  'another process is refused by name, and one that was killed is succeeded',
  inFolder(async file => {
    const { child, says, kill } = holder(file)
    assert.is(await says, 'held')
    assert.match((await refusal(lockFile(file))).message, `process ${child.pid} (serve at http://x)`)
    await kill()
    const lock = await lockFile(file)
    await lock.release()
  }),
)

test(
  'a process number that is used again does not keep the lock',
  inFolder(async file => {
    const lock = await lockFile(file)
    const owner = JSON.parse(readFileSync(`${file}.lock`, 'utf8'))
    await lock.release()
    writeFileSync(`${file}.lock`, JSON.stringify({ ...owner, start: 'another time' }))
    await (await lockFile(file)).release()
    writeFileSync(`${file}.lock`, '')
    await (await lockFile(file)).release()
  }),
)

test(
  'of many that find a dead lock at once exactly one gets it',
  inFolder(async file => {
    const first = holder(file)
    await first.says
    await first.kill()
    const starters = Array.from({ length: 4 }, () => holder(file))
    const said = await Promise.all(starters.map(({ says }) => says))
    assert.is(said.filter(word => word === 'held').length, 1, said.join('\n'))
    assert.ok(said.every(word => word === 'held' || word.includes('is in use by process')))
    await Promise.all(starters.map(({ kill }) => kill()))
  }),
)

test(
  'of twenty in one process that find a dead lock at once exactly one gets it',
  inFolder(async file => {
    writeFileSync(`${file}.lock`, '')
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lockFile(file)))
    const won = outcomes.filter(outcome => outcome.status === 'fulfilled')
    assert.is(won.length, 1)
    for (const { value } of won) await value.release()
  }),
)

test.run()
