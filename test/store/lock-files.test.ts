// engines: embedded; process: own
/** What a lock file tells of its owner, whose life it can prove, and that nothing is left open or lying about. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreError } from '../../src/store/db.ts'
import { lockFile, refuseIfLocked } from '../../src/store/embedded/lock.ts'
import {
  describeSelf,
  knownLifeOf,
  lifeOf,
  type Owner,
  readOwner,
  timeOf,
} from '../../src/store/embedded/lock-owner.ts'
import { isLocal, isLocked, lockFor } from '../../src/store/embedded/system-lock.ts'
import { lockFolder } from '../../src/store/files/folder-lock.ts'
import { inFolder } from './folder.ts'
import { openUnder } from './open-files.ts'

const refusal = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('it was not refused'),
    error => error,
  )

const self = describeSelf('me', false)
const [host, boot, space] = self.machine.split('|') as [string, string, string]
/** A process that has ended and was buried. */
const GONE = 4_194_305

test('an owner says who it is: process, holder, start, and the machine where its number counts', () => {
  const before = new Date().toISOString()
  const { startedAt, ...rest } = describeSelf('serve', true)
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!
  assert.equal(rest, { pid: process.pid, holder: 'serve', start, machine: self.machine, system: true })
  assert.equal([host, boot], [hostname(), readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()])
  assert.match(space, /^pid:\[\d+\]$/)
  assert.ok(startedAt >= before && startedAt <= new Date().toISOString())
})

test(
  'a lock file that is not there is told from one that can’t be read',
  inFolder(async path => {
    assert.is(await readOwner(path), undefined)
    assert.is(await timeOf(path), undefined)
    writeFileSync(path, '')
    assert.is(await readOwner(path), null)
    writeFileSync(path, '{"pid":')
    assert.is(await readOwner(path), null)
    writeFileSync(path, JSON.stringify(self))
    assert.equal(await readOwner(path), self)
    utimesSync(path, 50, 60)
    assert.is(await timeOf(path), 60_000)
    mkdirSync(`${path}.folder`)
    assert.is(await readOwner(`${path}.folder`), null)
  }),
)

test(
  'of an owner on this machine its number and its start tell',
  inFolder(async path => {
    writeFileSync(path, '')
    const life = (other: Partial<Owner>) => knownLifeOf({ ...self, ...other }, path)
    assert.is(await life({}), 'alive')
    assert.is(await life({ start: null }), 'alive')
    assert.is(await life({ start: '1' }), 'gone')
    assert.is(await life({ pid: GONE }), 'gone')
    assert.is(await life({ pid: GONE, start: null }), 'gone')
    assert.is(await life({ pid: 1, start: null }), 'alive', 'of another user perhaps, and alive')
    assert.is(await life({ pid: 1, start: 'never' }), 'gone')
  }),
)

test(
  'of an owner elsewhere the system’s lock tells, or another boot of a disk that is here, or nothing at once',
  inFolder(async path => {
    writeFileSync(path, '')
    const life = (other: Partial<Owner>) => knownLifeOf({ ...self, ...other }, path)
    const elsewhere = `${host}|${boot}|pid:[1]`
    assert.is(await life({ machine: elsewhere }), undefined)
    assert.is(await life({ machine: elsewhere, system: true }), 'gone')
    assert.is(await life({ machine: `other|${boot}|${space}`, system: true }), 'gone')
    assert.is(await life({ system: true }), 'gone', 'the system knows better than the number')
    const fd = openSync(path, 'r+')
    assert.ok(await lockFor(fd))
    assert.is(await life({ machine: elsewhere, system: true }), 'alive')
    assert.is(await life({ machine: elsewhere, system: false }), undefined)
    assert.is(await life({ pid: GONE, system: true }), 'alive')
    closeSync(fd)
    assert.is(await knownLifeOf({ ...self, machine: elsewhere, system: true }, `${path}.none`), undefined)
    assert.is(await knownLifeOf({ ...self, pid: GONE, system: true }, `${path}.none`), 'gone')
    assert.is(await life({ machine: `${host}|earlier|${space}` }), 'gone')
    assert.is(await life({ machine: `${host}|earlier|${space}`, system: true }), 'gone')
    assert.is(await life({ machine: `${host}||${space}` }), undefined, 'a boot that nobody knows proves nothing')
    assert.is(
      await knownLifeOf({ ...self, machine: `${host}|earlier|` }, '/proc/self/x.lock'),
      undefined,
      'nor does another disk',
    )
  }),
)

test(
  'where nothing else tells, a heartbeat does',
  inFolder(async path => {
    writeFileSync(path, '')
    const owner = { ...self, machine: `${host}|${boot}|pid:[1]` }
    const beat = setInterval(() => utimesSync(path, new Date(), new Date()), 300)
    assert.is(await lifeOf(owner, path), 'alive')
    writeFileSync(`${path}.lock`, JSON.stringify(owner))
    const other = setInterval(() => utimesSync(`${path}.lock`, new Date(), new Date()), 300)
    const error = await refusal(refuseIfLocked(path))
    assert.instance(error, StoreError)
    assert.match(
      error.message,
      `${path} is in use by process ${process.pid} (me), which opened it at ${self.startedAt}.`,
    )
    clearInterval(beat)
    clearInterval(other)
    assert.is(await lifeOf({ ...owner, system: true }, path), 'gone', 'and the system at once')
  }),
)

test(
  'the system keeps a lock for one open file, tells of it, and forgets it when that is closed',
  inFolder(async path => {
    writeFileSync(path, '')
    const [one, two] = [openSync(path, 'r+'), openSync(path, 'r+')]
    assert.is(await isLocked(path), false)
    assert.is(await lockFor(one), true)
    assert.is(await lockFor(one), true)
    assert.is(await lockFor(two), false)
    assert.is(await isLocked(path), true)
    assert.equal(openUnder(dirname(path)), [path, path], 'to ask leaves nothing open')
    closeSync(one)
    assert.is(await isLocked(path), false)
    assert.is(await lockFor(two), true)
    closeSync(two)
    assert.is(((await refusal(isLocked(`${path}.none`))) as NodeJS.ErrnoException).code, 'ENOENT')
    assert.equal(openUnder(dirname(path)), [])
  }),
)

test(
  'without the command that asks for it there is no lock of the system, and none is known',
  inFolder(async path => {
    writeFileSync(path, '')
    const fd = openSync(path, 'r+')
    const { PATH } = process.env
    process.env.PATH = '/nowhere'
    try {
      assert.is(await lockFor(fd), false)
      assert.is(await isLocked(path), undefined)
      assert.is(await knownLifeOf({ ...self, pid: GONE, system: true }, path), 'gone', 'the number tells')
    } finally {
      process.env.PATH = PATH
      closeSync(fd)
    }
  }),
)

test(
  'disks of this machine are told from others',
  inFolder(async path => {
    assert.is(await isLocal(dirname(path)), true)
    assert.is(await isLocal('/proc'), false)
    assert.is(await isLocal(path), false, 'what is not there is nowhere')
  }),
)

test(
  'a lock is one file that names its owner, for nobody else to read, and gone with it; who is refused leaves nothing',
  inFolder(async path => {
    const folder = dirname(path)
    const lock = await lockFile(path, 'first')
    assert.equal(readdirSync(folder), ['market.db.lock'])
    assert.is(statSync(`${path}.lock`).mode & 0o777, 0o600)
    const owner: Owner = JSON.parse(readFileSync(`${path}.lock`, 'utf8'))
    const { startedAt } = owner
    assert.equal(owner, { ...describeSelf('first', true), startedAt })
    assert.is(lock.mayWake, false)
    const { dev, ino } = statSync(`${path}.lock`)
    assert.equal(lock.proof, { path: `${path}.lock`, id: `${dev}:${ino}` })
    assert.is(openUnder(folder).length, 1)
    for (let i = 0; i < 3; i++) {
      const error = await refusal(lockFile(path, 'second'))
      assert.match(
        error.message,
        `${path} is in use by process ${process.pid} (first), which opened it at ${startedAt}.`,
      )
    }
    assert.match((await refusal(refuseIfLocked(path))).message, 'is in use by process')
    assert.equal(readdirSync(folder), ['market.db.lock'])
    assert.is(openUnder(folder).length, 1)
    await lock.release()
    assert.equal([readdirSync(folder), openUnder(folder)], [[], []])
    await refuseIfLocked(path)
    const again = await lockFile(path)
    assert.is(JSON.parse(readFileSync(`${path}.lock`, 'utf8')).holder, process.argv.slice(1, 4).join(' '))
    await again.release()
  }),
)

test(
  'a lock that a dead process left is taken over, with what it announced, and nobody else’s files go',
  inFolder(async path => {
    const folder = dirname(path)
    const dead = JSON.stringify({ ...self, pid: GONE })
    writeFileSync(`${path}.lock`, dead)
    writeFileSync(`${path}.lock.${GONE}-aa`, dead)
    writeFileSync(`${path}.lockother`, 'x')
    writeFileSync(`${path}.journal`, 'x')
    const lock = await lockFile(path)
    assert.is(lock.mayWake, false)
    assert.equal(readdirSync(folder).sort(), ['market.db.journal', 'market.db.lock', 'market.db.lockother'])
    assert.is(JSON.parse(readFileSync(`${path}.lock`, 'utf8')).pid, process.pid)
    await lock.release()
    assert.equal(openUnder(folder), [])
  }),
)

test(
  'an announcement that can’t be read is waited for while it is young: its maker may be writing it',
  inFolder(async path => {
    const announced = `${path}.lock.other`
    writeFileSync(`${path}.lock`, JSON.stringify({ ...self, pid: GONE }))
    writeFileSync(announced, '{')
    let lock: { release(): Promise<void> } | undefined
    const locking = lockFile(path).then(taken => {
      lock = taken
    })
    await wait(300)
    assert.equal([lock, existsSync(announced)], [undefined, true])
    rmSync(announced)
    await locking
    await lock!.release()
  }),
)

test(
  'a folder that can’t have a lock is an error, and nothing stays open',
  inFolder(async path => {
    const error = (await refusal(lockFile(`${path}/none/market.db`))) as NodeJS.ErrnoException
    assert.is(error.code, 'ENOENT')
    assert.equal(openUnder(dirname(path)), [])
  }),
)

test(
  'a folder of files has one id for ever, and one owner at a time',
  inFolder(async path => {
    const first = await lockFolder(`${path}.files/deep`, 'id one', 'holder')
    assert.equal([first.id, first.fault], ['id one', null])
    assert.is(statSync(`${path}.files/deep`).mode & 0o777, 0o700)
    assert.is(statSync(`${path}.files/deep/folder.id`).mode & 0o777, 0o600)
    assert.is(readFileSync(`${path}.files/deep/folder.id`, 'utf8'), 'id one\n')
    const second = await lockFolder(`${path}.files/deep`, 'id two', 'other')
    assert.is(second.id, 'id one')
    assert.match(second.fault!.message, '(holder)')
    await second.release()
    assert.equal(readdirSync(`${path}.files/deep`).sort(), ['folder.id', 'folder.lock'])
    await first.release()
    assert.equal(readdirSync(`${path}.files/deep`), ['folder.id'])
    const third = await lockFolder(`${path}.files/deep`, 'id three')
    assert.equal([third.id, third.fault], ['id one', null])
    await third.release()
    mkdirSync(`${path}.bad/folder.id`, { recursive: true })
    assert.is(((await refusal(lockFolder(`${path}.bad`, 'x'))) as NodeJS.ErrnoException).code, 'EISDIR')
    writeFileSync(`${path}.file`, '')
    assert.is(((await refusal(lockFolder(`${path}.file/x`, 'x'))) as NodeJS.ErrnoException).code, 'ENOTDIR')
  }),
)

test.run()
