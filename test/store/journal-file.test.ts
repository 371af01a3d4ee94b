// engines: embedded; process: own
/** One journal by itself: what stands in its file after each step, who is told when, and what it does once its disk has failed. */
import { setImmediate as turn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreError } from '../../src/store/db.ts'
import { HEAD_BYTES, type Position, readFrame } from '../../src/store/embedded/frame.ts'
import { Journal, journalPath, nextPath, sealedPath } from '../../src/store/embedded/journal.ts'
import { readJournal } from '../../src/store/embedded/replay.ts'
import type { Effect } from '../../src/store/embedded/statements.ts'
import { until } from '../support/patience.ts'
import { MemoryDisk } from './memory-disk.ts'

const FILE = '/d/market.db'
const START: Position = { seq: 5, chain: 99 }
const MB = 1024 * 1024
/** The head: its frame and `{"format":1}`. */
const HEAD = HEAD_BYTES + 12

async function created(disk = new MemoryDisk()) {
  const journal = await Journal.create(disk, FILE, START)
  const fatal: Error[] = []
  journal.onFatal = error => fatal.push(error)
  return { disk, journal, fatal }
}

const effect = (n: number, sql = 'INSERT INTO a (id) VALUES ($1)'): Effect => ({ sql, changed: 1, values: [n] })

/** How a waiter with these effects ends; null for one that only read. */
const told = (journal: Journal, effects: readonly Effect[] | null) =>
  new Promise<string>(resolve => {
    journal.add({ effects, done: () => resolve('done'), fail: error => resolve(error.message) })
  })

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'not refused',
    error => (error as Error).message,
  )

const bytesOf = (disk: MemoryDisk, path = journalPath(FILE)) => disk.files().get(path)!

function framesIn(bytes: Buffer) {
  const frames: { kind: string; seq: number; count: number; json: string }[] = []
  for (let frame = readFrame(bytes, 0); frame; frame = readFrame(bytes, frame.end)) {
    frames.push({ kind: frame.kind, seq: frame.seq, count: frame.count, json: frame.payload.toString() })
  }
  return frames
}

test('a new journal has a head that follows its start, and zeros, and nothing else is left', async () => {
  const { disk, journal } = await created()
  const bytes = bytesOf(disk)
  assert.is(bytes.length, HEAD + 2 * MB)
  assert.equal(framesIn(bytes), [{ kind: 'head', seq: 5, count: 0, json: '{"format":1}' }])
  assert.is(readFrame(bytes, 0)!.previous, 99)
  assert.ok(bytes.subarray(HEAD).every(byte => byte === 0))
  assert.equal([...disk.files().keys()], [journalPath(FILE)])
  assert.equal(journal.position, { seq: 5, chain: readFrame(bytes, 0)!.chain })
  assert.equal(
    [journal.bytes, journal.empty, journal.settled, journal.waiting, journal.batches],
    [HEAD, true, true, 0, 0],
  )
  await journal.abandon()
  assert.is(bytesOf(disk).length, HEAD + 2 * MB)
})

test('what is added in one turn is one batch; a statement is its text once and its number from then on', async () => {
  const { disk, journal } = await created()
  const lengths: number[] = []
  journal.onBatch = bytes => lengths.push(bytes)
  const both = [told(journal, [effect(1), effect(2, 'DELETE FROM a')]), told(journal, [effect(3)])]
  assert.equal([journal.waiting, journal.settled], [2, false])
  assert.equal(await Promise.all(both), ['done', 'done'])
  assert.is(await told(journal, [effect(4, 'DELETE FROM a'), effect(5, 'UPDATE a')]), 'done')
  const [first, second] = framesIn(bytesOf(disk)).slice(1)
  assert.equal(
    { ...first, json: JSON.parse(first!.json) },
    {
      kind: 'batch',
      seq: 5,
      count: 2,
      json: [
        ['INSERT INTO a (id) VALUES ($1)', 1, [1], 'DELETE FROM a', 1, [2]],
        [0, 1, [3]],
      ],
    },
  )
  assert.equal(
    { ...second, json: JSON.parse(second!.json) },
    { kind: 'batch', seq: 7, count: 1, json: [[1, 1, [4], 'UPDATE a', 1, [5]]] },
  )
  assert.equal([journal.batches, journal.position.seq, journal.empty, journal.waiting], [2, 8, false, 0])
  assert.is(lengths.length, 2)
  assert.is(lengths[1], journal.bytes)
  await journal.abandon()
})

test('who only read waits for the batch that is on its way, and no longer', async () => {
  const { disk, journal } = await created()
  let go = () => {}
  disk.pace = () => new Promise(resolve => (go = resolve))
  const order: string[] = []
  const note = (name: string) => (how: string) => order.push(`${name} ${how}`)
  const write = told(journal, [effect(1)]).then(note('write'))
  await turn()
  await turn()
  const read = told(journal, null).then(note('read'))
  const next = told(journal, [effect(2)]).then(note('next'))
  const behind = told(journal, null).then(note('behind'))
  assert.is(journal.waiting, 4)
  go()
  await Promise.all([write, read])
  assert.equal(order, ['write done', 'read done'])
  disk.pace = async () => {}
  go()
  await Promise.all([next, behind])
  assert.equal(order.slice(2), ['next done', 'behind done'])
  assert.is(journal.batches, 2)
  assert.is(await told(journal, null), 'done')
  assert.is(journal.batches, 2, 'a read alone writes nothing')
  await journal.abandon()
})

test('thirty-two that wait are written at once, fewer at the end of the turn', async () => {
  const { disk, journal } = await created()
  const writes = () => disk.log.filter(({ type }) => type === 'write').length
  const before = writes()
  const some = Array.from({ length: 31 }, (_, i) => told(journal, [effect(i)]))
  assert.is(writes(), before)
  const last = told(journal, [effect(31)])
  assert.is(writes(), before + 1)
  await Promise.all([...some, last])
  assert.is(journal.batches, 1)
  await journal.abandon()
})

test('a batch of any length is written whole, and zeros follow it again', async () => {
  const { disk, journal } = await created()
  for (const length of [1000, 349_000, 350_000, 5 * MB]) {
    assert.is(await told(journal, [{ sql: 'S', changed: 1, values: ['é'.repeat(length)] }]), 'done')
    const bytes = bytesOf(disk)
    assert.ok(bytes.length >= journal.bytes + HEAD_BYTES)
    assert.ok(bytes.length <= journal.bytes + 2 * MB)
  }
  assert.equal(
    framesIn(bytesOf(disk))
      .slice(1)
      .map(({ json }) => JSON.parse(json)[0][2][0].length),
    [1000, 349_000, 350_000, 5 * MB],
  )
  await journal.abandon()
})

test('closed, it ends in a mark and has no zeros left; then nothing is taken any more', async () => {
  const { disk, journal, fatal } = await created()
  const last = told(journal, [effect(1)])
  await journal.close()
  assert.is(await last, 'done', 'what was on its way is waited for')
  const bytes = bytesOf(disk)
  assert.equal(
    framesIn(bytes).map(({ kind, seq, count }) => [kind, seq, count]),
    [
      ['head', 5, 0],
      ['batch', 5, 1],
      ['mark', 6, 0],
    ],
  )
  assert.is(bytes.length, journal.bytes + HEAD_BYTES)
  assert.is(await told(journal, [effect(2)]), 'The database is closed.')
  assert.is(await told(journal, null), 'The database is closed.')
  assert.is(await refusal(journal.rotate()), 'The database is closed.')
  assert.equal([journal.settled, fatal], [false, []])
  await wait(60)
  assert.ok(bytesOf(disk).equals(bytes), 'and no later mark is written')
})

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

test('when nothing is written for a while a mark follows the last batch, and the next batch takes its place', async () => {
  const { disk, journal } = await created()
  await told(journal, [effect(1)])
  assert.is(framesIn(bytesOf(disk)).at(-1)!.kind, 'batch')
  await until('a mark', () => framesIn(bytesOf(disk)).at(-1)!.kind === 'mark')
  await told(journal, [effect(2)])
  assert.equal(
    framesIn(bytesOf(disk)).map(({ kind }) => kind),
    ['head', 'batch', 'batch'],
  )
  await journal.abandon()
  await wait(60)
  assert.equal(
    framesIn(bytesOf(disk)).map(({ kind }) => kind),
    ['head', 'batch', 'batch'],
    'none is written to what was left',
  )
})

test('set aside, it ends in a mark under its other name, and the next goes on where it ended, with no text named', async () => {
  const { disk, journal } = await created()
  await told(journal, [effect(1)])
  const end = journal.position
  assert.is(await journal.rotate(), true)
  assert.equal([...disk.files().keys()].sort(), [journalPath(FILE), sealedPath(FILE)])
  const sealed = (await readJournal(disk, sealedPath(FILE)))!
  assert.equal([sealed.marked, sealed.end.seq, sealed.end.chain, sealed.records], [true, end.seq, end.chain, 1])
  assert.equal([journal.empty, journal.bytes, journal.settled], [true, HEAD, true])
  assert.is(await told(journal, [effect(2)]), 'done')
  const current = (await readJournal(disk, journalPath(FILE)))!
  assert.equal(current.start, end)
  assert.equal(JSON.parse(framesIn(bytesOf(disk))[1]!.json), [['INSERT INTO a (id) VALUES ($1)', 1, [2]]])
  assert.not(journal.empty)
  await journal.abandon()
})

test('without room for another it goes on in the old one, says so, and leaves no draft', async () => {
  for (const fails of [1, 2, 3]) {
    const { disk, journal, fatal } = await created()
    const warned: string[] = []
    journal.warn = message => warned.push(message)
    // Its write would count, if the machine is slow between the two.
    journal.markSoon = () => {}
    await told(journal, [effect(1)])
    // The removal of an old draft, its making, its first write.
    disk.fault = { at: disk.count + fails, code: fails === 1 ? 'EIO' : 'ENOSPC', sticky: false }
    assert.is(await journal.rotate(), false)
    disk.fault = null
    assert.is(warned.length, 1)
    assert.match(warned[0]!, 'Writing goes on in the old one.')
    assert.not(disk.files().has(nextPath(FILE)))
    assert.is(await told(journal, [effect(2)]), 'done')
    assert.is(framesIn(bytesOf(disk)).at(-1)!.seq, 6)
    assert.equal(fatal, [])
    assert.is(await journal.rotate(), true, 'the next try has room')
    await journal.abandon()
  }
})

test('after a disk that failed all who wait are told, once each, and nobody is taken any more', async () => {
  for (const [code, call] of [
    ['EIO', 1],
    ['EIO', 2],
    ['ENOSPC', 1],
  ] as const) {
    const { disk, journal, fatal } = await created()
    assert.is(await told(journal, [effect(1)]), 'done')
    const before = journal.bytes
    disk.fault = { at: disk.count + call, code, sticky: false }
    const one = told(journal, [effect(2)])
    await turn()
    const outcomes = await Promise.all([one, told(journal, null), told(journal, [effect(3)])])
    disk.fault = null
    for (const outcome of outcomes) assert.match(outcome, `${journalPath(FILE)} can't be written: ${code}: injected.`)
    assert.is(fatal.length, 1)
    assert.instance(fatal[0], StoreError)
    assert.match(String((fatal[0] as Error & { cause: Error }).cause.message), code)
    assert.is(await told(journal, [effect(4)]), outcomes[0])
    assert.is(await refusal(journal.rotate()), outcomes[0])
    assert.equal([journal.settled, journal.waiting, journal.bytes, journal.batches], [false, 0, before, 1])
    const left = bytesOf(disk)
    await journal.close()
    await wait(40)
    assert.ok(bytesOf(disk).equals(left), 'nothing more is written, not even a mark')
    assert.is(fatal.length, 1)
  }
})

test('a batch that could not be written whole is cut off at once', async () => {
  const { disk, journal } = await created()
  await told(journal, [effect(1)])
  disk.fault = { at: disk.count + 1, code: 'EIO', sticky: false }
  await told(journal, [effect(2)])
  assert.is(bytesOf(disk).length, journal.bytes)
  await journal.close()
})

test('a rotation that is under way when the disk fails is answered, and one that can’t end is the end of the journal', async () => {
  const { disk, journal, fatal } = await created()
  await told(journal, [effect(1)])
  const renames = disk.rename.bind(disk)
  disk.rename = () => Promise.reject(new Error('no rename'))
  assert.is(await journal.rotate(), false)
  disk.rename = renames
  assert.match(fatal[0]!.message, 'no rename')
  assert.match(await told(journal, [effect(2)]), 'no rename')
})

test('who must not tell any more fails its batch though that is durable', async () => {
  const { journal, fatal } = await created()
  const lost = new StoreError('another has it')
  journal.prove = () => {
    throw lost
  }
  assert.is(await told(journal, [effect(1)]), 'another has it')
  assert.is(fatal[0], lost)
})

test('a journal that is read goes on where it ended, with its texts, and as another file if it is written anew', async () => {
  for (const anew of [false, true]) {
    const { disk, journal } = await created()
    await told(journal, [effect(1), effect(2, 'B')])
    await journal.close()
    const content = (await readJournal(disk, journalPath(FILE)))!
    assert.equal([content.start, content.records, content.marked, content.tornBytes], [START, 1, true, 0])
    assert.is(content.checksum, crc32(bytesOf(disk).subarray(0, content.end.offset)))
    content.end.texts = ['INSERT INTO a (id) VALUES ($1)', 'B']
    const next = await (anew ? Journal.renew(disk, FILE, content) : Journal.resume(disk, FILE, content))
    assert.equal([next.position.seq, next.bytes, next.empty], [6, content.end.offset, false])
    assert.is(await told(next, [effect(3, 'B'), effect(4, 'C')]), 'done')
    const frames = framesIn(bytesOf(disk))
    assert.equal(
      frames.map(({ kind, seq }) => [kind, seq]),
      [
        ['head', 5],
        ['batch', 5],
        ['batch', 6],
      ],
    )
    assert.equal(JSON.parse(frames[2]!.json), [[1, 1, [3], 'C', 1, [4]]])
    assert.is(bytesOf(disk).length, anew ? content.end.offset + 2 * MB : next.bytes + 2 * MB)
    assert.equal([...disk.files().keys()], [journalPath(FILE)])
    await next.abandon()
  }
})

test('the bytes behind the end are told, and a journal that is damaged before it is refused and closed', async () => {
  const { disk, journal } = await created()
  await told(journal, [effect(1)])
  await journal.close()
  const whole = Buffer.from(bytesOf(disk))
  const read = async (bytes: Buffer) => {
    const handle = await disk.open('/d/x.journal')
    await handle.truncate(0)
    handle.write(bytes, 0)
    return readJournal(disk, '/d/x.journal')
  }
  const torn = (await read(Buffer.concat([whole, Buffer.from([0, 0, 7])])))!
  assert.equal([torn.marked, torn.tornBytes], [true, 3])
  const noMark = (await read(whole.subarray(0, -1)))!
  assert.equal([noMark.marked, noMark.tornBytes], [false, HEAD_BYTES - 1])
  const zeros = (await read(Buffer.concat([whole, Buffer.alloc(9)])))!
  assert.equal([zeros.marked, zeros.tornBytes, zeros.end.length], [true, 0, whole.length + 9])
  const bad = Buffer.from(whole)
  bad[HEAD + 45]! ^= 1
  assert.match(await refusal(read(bad)), `/d/x.journal is damaged at byte ${HEAD}, before a point that was durable`)
  const headless = Buffer.from(whole)
  headless[0] = 0
  assert.match(await refusal(read(headless)), 'is damaged at byte 0')
  assert.match(await refusal(read(whole.subarray(HEAD))), 'is damaged at byte 0')
  assert.is(await readJournal(disk, '/d/none'), undefined)
})

test.run()
