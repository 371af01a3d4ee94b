/**
 * The format of a journal's frame: a head of 40 bytes, then a payload. Little-endian:
 *
 *     0 magic     4 checksum of all that follows     8 payload length     12 checksum of the frame before
 *    16 kind     20 count of records     24 sequence number of the first record     32 offset of this frame in the file
 *
 * A frame is written only when everything before it is durable. So an intact frame proves that everything before its offset
 * was once on the disk, and that damage there is not the torn end of a write. The payload is JSON in UTF-8, where the first
 * byte of the magic number can't occur, so no user's text can look like a frame.
 */
import { crc32 } from 'node:zlib'

/** A position in the history: the number of the next record and the checksum of the last frame. */
export interface Position {
  seq: number
  chain: number
}

export const same = (a: Position, b: Position) => a.seq === b.seq && a.chain === b.chain

export interface Frame extends Position {
  kind: 'head' | 'batch' | 'mark'
  /** The checksum of the frame before. `chain` is the checksum of this one, `seq` the number of its first record. */
  previous: number
  count: number
  /** The whole frame, head and payload. */
  bytes: Buffer
  payload: Buffer
  end: number
}

export const HEAD_BYTES = 40
export const MAGIC = Buffer.from([0xff, 0x41, 0x4d, 0x4a])
const KINDS = ['head', 'batch', 'mark'] as const

/** Fills in the head of a frame whose payload is there already. `bytes` is exactly one frame. Returns its checksum. */
export const sealFrame = (
  bytes: Buffer,
  {
    kind,
    seq,
    count,
    offset,
    previous,
  }: { kind: Frame['kind']; seq: number; count: number; offset: number; previous: number },
) => {
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(bytes.length - HEAD_BYTES, 8)
  bytes.writeUInt32LE(previous, 12)
  bytes.writeUInt32LE(KINDS.indexOf(kind), 16)
  bytes.writeUInt32LE(count, 20)
  bytes.writeDoubleLE(seq, 24)
  bytes.writeDoubleLE(offset, 32)
  const checksum = crc32(bytes.subarray(8))
  bytes.writeUInt32LE(checksum, 4)
  return checksum
}

/** Returns the length that the head of the frame at `offset` gives; 0 if no frame begins there. */
export const lengthOfFrame = (bytes: Buffer, offset: number) =>
  bytes.compare(MAGIC, 0, 4, offset, offset + 4) === 0 ? HEAD_BYTES + bytes.readUInt32LE(offset + 8) : 0

/**
 * Returns the intact frame that belongs at `offset` in `bytes`, which are at `base` in the file; null if there is none. Its
 * `end` is an offset in the file.
 */
export const readFrame = (bytes: Buffer, offset: number, base = 0): Frame | null => {
  if (offset + HEAD_BYTES > bytes.length) return null
  const end = offset + lengthOfFrame(bytes, offset)
  const kind = KINDS[bytes.readUInt32LE(offset + 16)]
  if (end === offset || end > bytes.length) return null
  if (!kind || bytes.readDoubleLE(offset + 32) !== base + offset) return null
  const chain = bytes.readUInt32LE(offset + 4)
  if (crc32(bytes.subarray(offset + 8, end)) !== chain) return null
  return {
    kind,
    chain,
    end: base + end,
    previous: bytes.readUInt32LE(offset + 12),
    count: bytes.readUInt32LE(offset + 20),
    seq: bytes.readDoubleLE(offset + 24),
    bytes: bytes.subarray(offset, end),
    payload: bytes.subarray(offset + HEAD_BYTES, end),
  }
}
