/** Long bodies are made in slices, between which others have their turn. Source: A-289. */
import type { Pieces } from './pieces.ts'
import type { Call, Sent } from './response.ts'

/** Some ms of the thread at most, besides one item that is longer. */
const SLICE_LENGTH = 128 * 1024

/** Makes the text of a response, and stops when the client leaves. Beyond a first slice its bytes are counted until they are sent. */
export async function inSlices(call: Call, pieces: Pieces): Promise<string | readonly Buffer[]> {
  const { turns, unread } = call.server
  const slices: Buffer[] = []
  let text = ''
  let began = performance.now()
  let expected = 0
  for (const piece of pieces) {
    text += piece
    if (text.length < SLICE_LENGTH) continue
    const slice = Buffer.from(text)
    slices.push(slice)
    text = ''
    if (slices.length === 1) {
      expected = Math.ceil(slice.length / (pieces.made ?? 1))
      call.reserveBytes(expected)
    }
    turns.charge(call.flow, performance.now() - began)
    await turns.yieldTo(call.flow, call.res)
    began = performance.now()
  }
  if (slices.length === 0) return text
  slices.push(Buffer.from(text))
  const length = lengthOf(slices)
  if (length > expected) unread.count(call.res, call, length - expected)
  turns.charge(call.flow, performance.now() - began)
  return slices
}

export const lengthOf = (body: Sent['body']) =>
  typeof body === 'string' || Buffer.isBuffer(body)
    ? Buffer.byteLength(body)
    : body.reduce((sum, { length }) => sum + length, 0)
