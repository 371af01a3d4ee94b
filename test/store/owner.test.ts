// engines: embedded; process: own
/** The owner of a database is fenced: what stands still and wakes up again does no harm, and what is gone is known to be. */
import { readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { realDisk } from '../../src/store/embedded/disk.ts'
import { fenced, isOwn, prove } from '../../src/store/embedded/fence.ts'
import { type Lock, lockFile } from '../../src/store/embedded/lock.ts'
import { describeSelf, knownLifeOf, type Owner, SILENCE_MS } from '../../src/store/embedded/lock-owner.ts'
import { checkFile } from '../../src/store/embedded/verify.ts'
import { PATIENCE_MS, until } from '../support/patience.ts'
import { inFolder } from './folder.ts'
import { argumentsFor, child, type Where } from './lock-child.ts'

const holding = async (file: string, where: Where = {}) => {
  const holder = await child(
    'lock',
    `await m.lockFile(${JSON.stringify(file)}, 'x'); console.log('held'); setInterval(() => {}, 1e6)`,
    where,
  )
  await holder.until('held')
  return holder
}

/** Writes rows one after another, and says which are durable. */
const writing = async (file: string, where: Where) => {
  const code = `const db = await m.openSqlite({ file: ${JSON.stringify(file)}, journalBytes: 30_000, onFatal: error => {
    console.log('fatal ' + error.message)
    process.exit(1)
  } })
  await db.write(tx => tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY, text TEXT NOT NULL)'))
  for (let id = 1; ; id++) {
    await db.write(tx => tx.run('INSERT INTO a (id, text) VALUES ($1, $2)', [id, 'x'.repeat(200)]))
    console.log('told ' + id)
  }`
  const writer = await child('database', code, where)
  await writer.until('told 300')
  return writer
}

const outcome = (lock: Promise<Lock>) =>
  lock.then(
    async ({ release }) => {
      await release()
      return 'taken'
    },
    (error: Error) => error.message,
  )

/** Waits for seconds, as others do: it begins at once, and its test waits for its end. */
const startedEarly = (name: string, work: () => Promise<void>) => {
  const outcome = work()
  outcome.catch(() => {})
  test(name, () => outcome)
}

const otherMachine = (owner: Owner): Owner => ({ ...owner, machine: `${owner.machine}x`, system: false })
const ownerOf = (file: string): Owner => JSON.parse(readFileSync(`${file}.lock`, 'utf8'))

const isFenced = (where: Where) =>
  inFolder(async file => {
    const writer = await writing(file, where)
    writer.signal('SIGSTOP')
    if (!where.contained) writeFileSync(`${file}.lock`, JSON.stringify(otherMachine(ownerOf(file)))) // the same file
    const db = await openSqlite({ file, onFatal: error => assert.unreachable(error.message) })
    await db.write(tx => tx.run(`INSERT INTO a (id, text) VALUES (-1, 'by the next')`))
    const before = writer.said.length
    writer.signal('SIGCONT')
    await writer.ended
    const since = writer.said.slice(before)
    // What was durable when it was stopped may be told of then, before anything else. That it is there is looked at below.
    assert.match(since.join('\n'), /^(?:told \d+\n)?fatal .*is not this process' any more.*$/, 'nothing more was told')
    assert.is(writer.process.exitCode, 1)
    assert.is(ownerOf(file).pid, process.pid, 'the lock is left to its owner')
    await db.write(tx => tx.run(`INSERT INTO a (id, text) VALUES (-2, 'by the next')`))
    await db.close()
    const { ok, problems, db: rows } = await checkFile(file)
    assert.equal([ok, problems], [true, []])
    const told = writer.said.filter(line => line.startsWith('told ')).map(line => Number(line.slice(5)))
    const there = new Set((await rows!.all<{ id: number }>('SELECT id FROM a')).map(({ id }) => id))
    assert.equal(
      [-1, -2, ...told].filter(id => !there.has(id)),
      [],
      'told, and gone',
    )
  })

startedEarly(
  'an owner that stands still until it is succeeded tells of no further write and leaves the lock alone',
  isFenced({ withoutSystem: true }),
)

// Containers are told from each other on Linux alone; elsewhere there are none.
if (process.platform === 'linux') {
  startedEarly(
    'so does one in another container, of which nothing but its heartbeat is known',
    isFenced({ withoutSystem: true, contained: true }),
  )

  test(
    'where the system keeps the lock, an owner in another container that stands still is not succeeded at all',
    inFolder(async file => {
      const holder = await holding(file, { contained: true })
      holder.signal('SIGSTOP')
      assert.is(await knownLifeOf(ownerOf(file), `${file}.lock`), 'alive', 'no heartbeat is waited for')
      assert.match(await outcome(lockFile(file)), 'is in use by process 1 (x)')
      holder.signal('SIGKILL')
      await holder.ended
    }),
  )

  test(
    'a container that was killed is succeeded at once, though it counts its own processes',
    inFolder(async file => {
      const holder = await holding(file, { contained: true })
      holder.signal('SIGKILL')
      await holder.ended
      assert.is(await knownLifeOf(ownerOf(file), `${file}.lock`), 'gone', 'no heartbeat is waited for')
      assert.is(await outcome(lockFile(file)), 'taken')
    }),
  )

  startedEarly(
    'an owner that is busy for long keeps its lock, also where only its heartbeat is known',
    inFolder(async file => {
      const code = `await m.lockFile(${JSON.stringify(file)}, 'x'); console.log('held')
        setTimeout(() => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${SILENCE_MS + PATIENCE_MS}); console.log('idle') }, 10)
        setInterval(() => {}, 1e6)`
      const holder = await child('lock', code, { contained: true, withoutSystem: true })
      await holder.until('held')
      await wait(1_000)
      assert.match(await outcome(lockFile(file)), 'is in use by process 1 (x)')
      assert.not(holder.said.includes('idle'))
      holder.signal('SIGKILL')
      await holder.ended
    }),
  )
}

test(
  'a process that is dead and not yet buried has no lock',
  inFolder(async file => {
    // Its parent has become `sleep`, which buries nobody.
    const code = `await m.lockFile(${JSON.stringify(file)}, 'x'); console.log('held ' + process.pid); setInterval(() => {}, 1e6)`
    const parent = `const { spawn } = await import('node:child_process')
      const args = ${JSON.stringify(argumentsFor('lock', code))}
      spawn('/bin/sh', ['-c', '"$0" "$@" & exec /bin/sleep 60', process.execPath, ...args], { stdio: 'inherit' })`
    const holder = await child('lock', parent, { withoutSystem: true })
    const pid = Number((await holder.until('held')).slice(5))
    process.kill(pid, 'SIGKILL')
    await until('a zombie', () => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '))
    const sleeper = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') Z ')[1]!.split(' ')[0])
    assert.is(await outcome(lockFile(file)), 'taken')
    process.kill(sleeper, 'SIGKILL')
    holder.signal('SIGKILL')
    await holder.ended
  }),
)

test(
  'an owner of an earlier boot of a machine whose disk is here is gone, whatever it was called',
  inFolder(async file => {
    const { machine, ...self } = describeSelf('x', false)
    const earlier = machine.split('|').map((part, i) => (i < 2 ? `${part}x` : part))
    writeFileSync(`${file}.lock`, JSON.stringify({ ...self, machine: earlier.join('|') }))
    assert.is(await knownLifeOf(ownerOf(file), `${file}.lock`), 'gone', 'no heartbeat is waited for')
    assert.is(await outcome(lockFile(file)), 'taken')
  }),
)

startedEarly(
  'others who announce themselves are waited for',
  inFolder(async file => {
    const other = await child('lock', 'setInterval(() => {}, 1e6)')
    writeFileSync(`${file}.lock`, '') // as an owner leaves it whose machine stopped
    const announcement = `${file}.lock.${other.pid}-00`
    writeFileSync(announcement, JSON.stringify({ ...describeSelf('y', false), pid: other.pid, start: null }))
    const lock = lockFile(file)
    assert.is(await Promise.race([lock.then(() => 'taken'), wait(1_500, 'waits')]), 'waits')
    assert.is(readFileSync(`${file}.lock`, 'utf8'), '')
    rmSync(announcement)
    assert.is(await outcome(lock), 'taken')
    other.signal('SIGKILL')
    await other.ended
  }),
)

startedEarly(
  'an announcement that nobody can be asked about, dated ahead of the clock, does not block for ever',
  inFolder(async file => {
    writeFileSync(`${file}.lock`, '')
    const announcement = `${file}.lock.4711-00`
    writeFileSync(announcement, JSON.stringify(otherMachine(describeSelf('y', false))))
    const ahead = new Date(Date.now() + 3_600_000)
    utimesSync(announcement, ahead, ahead)
    assert.is(await outcome(lockFile(file)), 'taken')
  }),
)

startedEarly(
  "only one's own lock is given back, and one that is another's is noticed without a write",
  inFolder(async file => {
    const lock = await lockFile(file)
    const lost = new Promise<Error>(resolve => {
      lock.onLost = resolve
    })
    writeFileSync(`${file}.other`, JSON.stringify(describeSelf('another', false)))
    renameSync(`${file}.other`, `${file}.lock`)
    const alive = setInterval(() => {}, 1_000) // the heartbeat itself keeps nobody from ending
    assert.match((await lost).message, "is not this process' any more")
    clearInterval(alive)
    assert.throws(() => prove(lock.proof), /any more/)
    const disk = fenced(realDisk, lock.proof)
    for (const step of [disk.rename(`${file}.lock`, file), disk.remove(`${file}.lock`)]) {
      const outcome = await step.then(
        () => 'done',
        (error: Error) => error.message,
      )
      assert.match(outcome, 'any more')
    }
    await lock.release()
    assert.is(ownerOf(file).holder, 'another')
    assert.not(isOwn(lock.proof!))
  }),
)

startedEarly(
  'a database that nobody uses notices as well that another took over',
  inFolder(async file => {
    const db = await new Promise<{ fatal: Promise<Error>; close(): Promise<void> }>((resolve, reject) => {
      const fatal = new Promise<Error>(onFatal => {
        openSqlite({ file, onFatal }).then(db => resolve({ fatal, close: () => db.close() }), reject)
      })
    })
    writeFileSync(`${file}.other`, JSON.stringify(describeSelf('another', false)))
    renameSync(`${file}.other`, `${file}.lock`)
    const alive = setInterval(() => {}, 1_000) // the heartbeat itself keeps nobody from ending
    assert.match((await db.fatal).message, "is not this process' any more")
    clearInterval(alive)
    await db.close()
    assert.is(ownerOf(file).holder, 'another')
  }),
)

test(
  'a write whose sync was under way when another took over is not told of',
  inFolder(async file => {
    const fatal: string[] = []
    const db = await openSqlite({ file, onFatal: error => fatal.push(error.message) })
    await db.write(tx => tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY)'))
    const write = db.write(async tx => {
      await tx.run('INSERT INTO a (id) VALUES (1)')
      writeFileSync(`${file}.other`, JSON.stringify(describeSelf('another', false)))
      renameSync(`${file}.other`, `${file}.lock`)
    })
    const told = await write.then(
      () => 'told',
      (error: Error) => error.message,
    )
    assert.match(told, "is not this process' any more")
    assert.equal(fatal, [told])
    await db.close()
    assert.is(ownerOf(file).holder, 'another')
  }),
)

if (process.platform !== 'win32') {
  test(
    'where there is no /proc, a command of the system tells when a process has started, in one language',
    inFolder(async file => {
      const folder = dirname(file)
      const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
      const { PATH } = process.env
      try {
        process.env.PATH = `${folder}:${PATH}`
        for (const [name, program, words] of [
          ['darwin', 'ps', `C -o lstart= -p ${process.pid}`],
          ['win32', 'powershell', `C -NoProfile -Command (Get-Process -Id ${process.pid})`],
        ] as const) {
          writeFileSync(join(folder, program), '#!/bin/sh\necho " $LC_ALL $* "\n', { mode: 0o755 })
          Object.defineProperty(process, 'platform', { ...platform, value: name })
          const self = describeSelf('x', false)
          assert.ok(self.start!.startsWith(words), self.start!)
          assert.is(await knownLifeOf(self, folder), 'alive')
          assert.is(await knownLifeOf({ ...self, start: 'another' }, folder), 'gone')
          writeFileSync(join(folder, program), '#!/bin/sh\nexit 1\n')
          assert.is(describeSelf('x', false).start, null)
          assert.is(await knownLifeOf(self, folder), 'alive', 'where nothing is known, the process itself tells')
        }
      } finally {
        process.env.PATH = PATH
        Object.defineProperty(process, 'platform', platform)
      }
    }),
  )
}

test.run()
