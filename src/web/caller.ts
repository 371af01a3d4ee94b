/** Where a request comes from, as the market may know it. */
import type { Caller } from '../market/market.ts'
import { Gone } from './body.ts'
import { clientAddress } from './client-address.ts'
import type { Call } from './response.ts'

/** For requests that may wait before their work begins: the caller may leave meanwhile. */
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
