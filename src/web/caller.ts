/** Tells verbs which client sent a request. */
import type { Caller } from '../market/market.ts'
import { Gone } from './bodies/body.ts'
import type { Call } from './response.ts'
import { clientAddress } from './sockets/client-address.ts'

/** Returns the caller, with a signal for verbs that wait before they work, as the client may disconnect meanwhile. */
export function callerOf({ req, res, server }: Call): Caller {
  const left = new AbortController()
  res.once('close', () => {
    if (!res.writableEnded) left.abort(new Gone())
  })
  return {
    address: clientAddress(req, server.market.config.trustProxy),
    userAgent: req.headers['user-agent'],
    gone: left.signal,
  }
}
