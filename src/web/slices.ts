/** Long bodies are made in slices, between which others have their turn. Source: A-289. */
import type { ServerResponse } from 'node:http'
import type { Recipient, UnreadResponses } from './bodies/unread-responses.ts'
import type { Pieces } from './pieces.ts'
import type { Turns } from './turns.ts'

/** Some ms of the thread at most, besides one item that is longer. */
const SLICE_LENGTH = 128 * 1024

/** A request whose response is made. */
interface Answering extends Recipient {
  readonly ms: number
  readonly res: ServerResponse
  readonly server: { readonly turns: Turns; readonly unread: UnreadResponses }
  reserveBytes(bytes: number): void
}

/** Makes the text of a response, and stops when the client leaves. Beyond a first slice its bytes are counted until they are sent. */
export async function inSlices(call: Answering, pieces: Pieces): Promise<string | readonly Buffer[]> {
  const { turns, unread } = call.server
  const slices: Buffer[] = []
  let text = ''
  let began = call.ms
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
    turns.charge(call.flow, call.ms - began)
    await turns.yieldTo(call.flow, call.res)
    began = call.ms
  }
  if (slices.length === 0) return text
  slices.push(Buffer.from(text))
  const length = lengthOf(slices)
  if (length > expected) unread.count(call.res, call, length - expected)
  turns.charge(call.flow, call.ms - began)
  return slices
}

export const lengthOf = (body: string | Buffer | readonly Buffer[]) =>
  typeof body === 'string' || Buffer.isBuffer(body)
    ? Buffer.byteLength(body)
    : body.reduce((sum, { length }) => sum + length, 0)
