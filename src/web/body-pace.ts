/** A body has to come at a pace, however large it is: a fixed time would refuse an honest upload, or wait long for nothing. Source: A-49. */
import type { IncomingMessage } from 'node:http'
import { type Refusal, refuse } from '../api/failures.ts'

/** What has to come between two looks, or all that is left: 16 KiB a second with a look each 30 s. */
const LEAST_BYTES = 480 * 1024

/** Calls `tooSlow` once, unless the body ends before; returns what ends the watch. To be called by whoever reads it. */
export function watchPace(req: IncomingMessage, lookMs: number, tooSlow: (refusal: Refusal) => void): () => void {
  const { socket } = req
  let before = socket.bytesRead
  const look = () => {
    const came = socket.bytesRead - before
    before = socket.bytesRead
    // What has come and waits was not sent slowly: it is we who do not read on, as a disk is busy.
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
  const refusal = refuse('bad_request', 'The request took too long to arrive: less than 16 KiB a second')
  refusal.headers = { connection: 'close' }
  return refusal
}
