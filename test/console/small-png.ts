/** A picture of a page in 256 colours: a third of the bytes, and nobody sees the difference. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
const COLOURS = 256

/** Takes what a browser makes: 8 bits for each of 3 or 4 parts of a colour, not interlaced, nothing see-through. */
export function smallPng(png: Buffer): Buffer {
  const chunks = chunksOf(png)
  const header = chunks.find(({ type }) => type === 'IHDR')!.data
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const parts = header[9] === 6 ? 4 : 3
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data))
  const bytes = unfiltered(inflateSync(packed), width * parts, parts)
  const colours = new Uint32Array(width * height)
  for (let at = 0; at < colours.length; at++) colours[at] = bytes.readUIntBE(at * parts, 3)
  const palette = mostOf(colours)
  const known = new Map(palette.map((colour, at) => [colour, at]))
  const rows = Buffer.alloc((width + 1) * height)
  for (const [at, colour] of colours.entries()) {
    const index = known.get(colour) ?? nearest(palette, colour)
    known.set(colour, index)
    rows[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = index
  }
  const plain = Buffer.from(header)
  plain[9] = 3
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', plain),
    chunk('PLTE', Buffer.concat(palette.map(colour => Buffer.from([colour >> 16, (colour >> 8) & 255, colour & 255])))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunksOf(png: Buffer) {
  const chunks: { type: string; data: Buffer }[] = []
  for (let at = SIGNATURE.length; at < png.length; ) {
    const size = png.readUInt32BE(at)
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + size) })
    at += size + 12
  }
  return chunks
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([size, body, sum])
}

/** Each row stands there as its difference from what is beside or above it. Source: PNG, clause 9. */
function unfiltered(packed: Buffer, row: number, parts: number): Buffer {
  const height = packed.length / (row + 1)
  const bytes = Buffer.alloc(row * height)
  for (let y = 0; y < height; y++) {
    const filter = packed[y * (row + 1)]!
    for (let x = 0; x < row; x++) {
      const to = y * row + x
      const left = x >= parts ? bytes[to - parts]! : 0
      const up = y > 0 ? bytes[to - row]! : 0
      const corner = x >= parts && y > 0 ? bytes[to - row - parts]! : 0
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!
      bytes[to] = packed[y * (row + 1) + 1 + x]! + guess
    }
  }
  return bytes
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

/** The colours that most of it has. */
function mostOf(colours: Uint32Array): number[] {
  const many = new Map<number, number>()
  for (const colour of colours) many.set(colour, (many.get(colour) ?? 0) + 1)
  return [...many]
    .sort((a, b) => b[1] - a[1])
    .slice(0, COLOURS)
    .map(([colour]) => colour)
}

function nearest(palette: readonly number[], colour: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY]
  for (const [at, other] of palette.entries()) {
    const far = [16, 8, 0].reduce((sum, by) => sum + (((colour >> by) & 255) - ((other >> by) & 255)) ** 2, 0)
    if (far < least) [best, least] = [at, far]
  }
  return best
}
