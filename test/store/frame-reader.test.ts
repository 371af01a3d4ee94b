// engines: embedded; process: shared
/** Frames of a journal: every byte of one counts, and they are found wherever they stand in a file of any length. */
import { crc32 } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Frame,
  HEAD_BYTES,
  lengthOfFrame,
  MAGIC,
  readFrame,
  same,
  sealFrame,
} from '../../src/store/embedded/frame.ts'
import { FrameReader } from '../../src/store/embedded/frame-reader.ts'
import { memoryFile } from './open-files.ts'

const MB = 1024 * 1024
/** How much is read at once, at least. */
const WINDOW = 4 * MB

const frame = (offset: number, payload: string | Buffer = 'ab', kind: Frame['kind'] = 'batch') => {
  const bytes = Buffer.concat([Buffer.alloc(HEAD_BYTES), Buffer.from(payload)])
  sealFrame(bytes, { kind, seq: 7, count: 3, offset, previous: 0xfedcba98 })
  return bytes
}

/** A file of zeros with these at their places. */
const fileOf = (size: number, ...parts: [at: number, bytes: Buffer][]) => {
  const bytes = Buffer.alloc(size)
  for (const [at, part] of parts) part.copy(bytes, at)
  return memoryFile(bytes)
}

test('a frame on the disk is what it was in every version: forty bytes, little-endian, then its payload', () => {
  const bytes = frame(0x1_0000_0001)
  assert.is(HEAD_BYTES, 40)
  assert.is(
    bytes.toString('hex'),
    `ff414d4a${le(crc32(bytes.subarray(8)))}02000000` +
      '98badcfe' +
      '0100000003000000' +
      '0000000000001c40' +
      '000010000000f041' +
      '6162',
  )
  const kinds = (['head', 'batch', 'mark'] as const).map(kind => frame(0, '', kind).readUInt32LE(16))
  assert.equal(kinds, [0, 1, 2])
})

const le = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes.toString('hex')
}

test('a frame is read as it was written, and no byte of it may be another', () => {
  const bytes = frame(100)
  const around = Buffer.concat([Buffer.alloc(5), bytes, Buffer.alloc(5)])
  const found = readFrame(around, 5, 95)!
  const { payload, bytes: all, ...rest } = found
  assert.is(payload.toString(), 'ab')
  assert.equal(all, bytes)
  assert.equal(rest, { kind: 'batch', chain: bytes.readUInt32LE(4), end: 142, previous: 0xfedcba98, count: 3, seq: 7 })
  assert.is(readFrame(frame(0), 0)!.end, 42, 'at the beginning of the file')
  assert.is(readFrame(around, 5, 94), null, 'it belongs elsewhere')
  assert.is(readFrame(around, 4, 96), null)
  for (let i = 0; i < bytes.length; i++) {
    const other = Buffer.from(around)
    other[5 + i]! ^= 1
    assert.is(readFrame(other, 5, 95), null, `byte ${i}`)
  }
  for (let length = 0; length < bytes.length; length++) {
    assert.is(readFrame(bytes.subarray(0, length), 0, 100), null, `${length} bytes`)
  }
  const unknown = frame(0)
  unknown.writeUInt32LE(3, 16)
  unknown.writeUInt32LE(crc32(unknown.subarray(8)), 4)
  assert.is(readFrame(unknown, 0), null, 'a kind that nobody knows')
})

test('a frame tells its length, and where none begins it is nothing', () => {
  assert.is(lengthOfFrame(frame(0), 0), 42)
  assert.is(lengthOfFrame(Buffer.alloc(60), 0), 0)
  assert.is(lengthOfFrame(Buffer.concat([Buffer.alloc(3), frame(3)]), 3), 42)
})

test('two places in the history are the same if number and checksum are', () => {
  assert.ok(same({ seq: 1, chain: 2 }, { seq: 1, chain: 2 }))
  assert.not(same({ seq: 1, chain: 2 }, { seq: 2, chain: 2 }))
  assert.not(same({ seq: 1, chain: 2 }, { seq: 1, chain: 3 }))
})

test('a frame is found at the first byte, at the last, and across what is read at once', () => {
  for (const at of [0, 1, WINDOW - 1, WINDOW - 20, WINDOW - HEAD_BYTES, WINDOW - 41, WINDOW, WINDOW + 1]) {
    const reader = new FrameReader(fileOf(at + 42, [at, frame(at)]))
    assert.is(reader.frameAt(at)?.payload.toString(), 'ab', `at ${at}`)
    assert.is(reader.frameAt(at + 1), null)
    assert.is(reader.frameAt(at + 3), null, 'behind it is too little')
    assert.is(reader.frameAt(at + 42), null, 'behind it is nothing')
    if (at > 0) assert.is(reader.frameAt(at - 1), null)
    assert.is(reader.frameAt(at)?.end, at + 42, 'and again')
  }
})

test('frames in order are read from one window, and one that was read is not read again', () => {
  const parts: [number, Buffer][] = []
  for (let at = 0; at < 420; at += 42) parts.push([at, frame(at)])
  const file = fileOf(WINDOW + MB, ...parts)
  const reader = new FrameReader(file)
  for (let at = 0; at < 420; at += 42) assert.ok(reader.frameAt(at))
  assert.equal(file.reads, [{ at: 0, length: WINDOW }])
  assert.ok(reader.frameAt(0), 'the first byte of the window is in it')
  assert.is(file.reads.length, 1)
  assert.is(reader.frameAt(WINDOW - HEAD_BYTES), null)
  assert.is(file.reads.length, 1, 'the last byte of the window is in it')
  assert.is(reader.frameAt(WINDOW - HEAD_BYTES + 1), null)
  assert.equal(file.reads.slice(1), [{ at: WINDOW - HEAD_BYTES + 1, length: MB + HEAD_BYTES - 1 }])
  assert.ok(reader.frameAt(42), 'and back')
  assert.equal(file.reads.slice(2), [{ at: 42, length: WINDOW }])
})

test('a frame longer than what is read at once is read whole, and its room is given back', () => {
  const long = frame(10, Buffer.alloc(9 * MB, 'x'))
  const end = 10 + long.length
  const file = fileOf(end + WINDOW + MB, [10, long], [end, frame(end)])
  const reader = new FrameReader(file)
  assert.is(reader.frameAt(10)?.payload.length, 9 * MB)
  assert.is(file.reads.at(-1)!.length, long.length)
  const next = reader.frameAt(end)!
  assert.is(next.end, end + 42)
  assert.is(file.reads.at(-1)!.length, WINDOW)
  assert.is(next.bytes.buffer.byteLength, WINDOW, 'not the room of the long one')
})

test('a frame that says it is longer than the file is none', () => {
  const bytes = frame(0)
  bytes.writeUInt32LE(3, 8)
  assert.is(new FrameReader(memoryFile(bytes)).frameAt(0), null)
})

test('behind the end stand zeros, a torn write or a frame: the rest is told by its bytes alone, to the last', () => {
  const size = 2 * WINDOW + MB
  const rest = (from: number, ...parts: [number, Buffer][]) => new FrameReader(fileOf(size, ...parts)).restFrom(from)
  const one = Buffer.from([1])
  assert.is(rest(0), 'zeros')
  assert.is(rest(size), 'zeros')
  assert.is(rest(size + 1), 'zeros')
  for (const at of [10, 11, WINDOW + 9, WINDOW + 10, WINDOW + 11, 2 * WINDOW + 10, size - 1]) {
    assert.is(rest(10, [at, one]), 'torn', `a byte at ${at}`)
  }
  assert.is(rest(10, [9, one]), 'zeros')
  assert.is(rest(10, [10, Buffer.alloc(size, 7)]), 'torn')
  for (const at of [10, 11, 30, WINDOW + 6, WINDOW + 7, WINDOW + 8, WINDOW + 9, WINDOW + 10, 2 * WINDOW, size - 42]) {
    assert.is(rest(10, [at, frame(at)]), 'frame', `a frame at ${at}`)
    assert.is(rest(at, [at, frame(at)]), 'frame')
    assert.is(rest(at + 1, [at, frame(at)]), 'torn')
    assert.is(rest(10, [at, frame(at + 1)]), 'torn', 'one that belongs elsewhere is none')
  }
  assert.is(rest(0, [5, MAGIC], [5 + WINDOW, MAGIC], [100, frame(100)]), 'frame', 'behind what only begins like one')
  assert.is(rest(0, [size - 4, MAGIC]), 'torn')
})

test.run()
