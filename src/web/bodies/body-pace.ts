/**
 * Demands a minimum rate of each request body. A fixed time-out would either refuse large honest uploads or wait too long
 * for small ones. Source: A-223.
 */
import type { IncomingMessage } from 'node:http'
import { type Refusal, refuse } from '../../api/failures.ts'

const LEAST_KIB_A_SECOND = 16
/** The bytes that must come between two looks, unless the body ends: there is one every 30 s. */
const LEAST_BYTES = 30 * LEAST_KIB_A_SECOND * 1024

/** Calls `tooSlow` once if the body comes too slowly. Returns a function that ends the watch. */
export function watchPace(req: IncomingMessage, lookMs: number, tooSlow: (refusal: Refusal) => void): () => void {
  const { socket } = req
  let before = socket.bytesRead
  const look = () => {
    const came = socket.bytesRead - before
    before = socket.bytesRead
    // Bytes that wait to be read were not sent slowly: we don't read on, because a disk is busy.
    if (came >= LEAST_BYTES || req.readableLength > 0) return
    end()
    tooSlow(tooLate())
  }
  const timer = setInterval(look, lookMs).unref()
  const end = () => clearInterval(timer)
  req.once('end', end).once('close', end)
  return end
}

function tooLate(): Refusal {
  const refusal = refuse(
    'bad_request',
    `The request took too long to arrive: less than ${LEAST_KIB_A_SECOND} KiB a second`,
  )
  refusal.headers = { connection: 'close' }
  return refusal
}
