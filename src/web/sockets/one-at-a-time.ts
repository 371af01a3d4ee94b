/**
 * Passes on the requests of a connection one after the other. Node parses all that came in one packet and would serve it in one
 * go; so the next one begins only when the response to the one before is sent and others have had their turn. Source: A-289.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests of a connection may wait behind the one that is served. Browsers and common clients send none. */
export const MOST_BEHIND = 100

type Waiting = readonly [req: IncomingMessage, res: ServerResponse]

export interface Line {
  /** Called for a request that is one too many; its response is sent after those before it. */
  refuse: RequestListener
  /** Called for one that will not be served, because its connection is closed. */
  drop(res: ServerResponse): void
}

export function oneAtATime(serve: RequestListener, { refuse, drop }: Line): RequestListener {
  /** By connection: what waits behind the request that is served. */
  const lines = new WeakMap<Socket, Waiting[]>()

  const begin = (req: IncomingMessage, res: ServerResponse, line: Waiting[]) => {
    res.once('close', () => {
      if (line.length === 0) lines.delete(req.socket)
      else setImmediate(next, req.socket, line)
    })
    serve(req, res)
  }
  const next = (socket: Socket, line: Waiting[]) => {
    if (socket.destroyed) {
      for (const [, res] of line.splice(0)) drop(res)
      return
    }
    const [req, res] = line.shift()!
    begin(req, res, line)
  }

  return (req, res) => {
    const { socket } = req
    const line = lines.get(socket)
    if (line === undefined) {
      const fresh: Waiting[] = []
      lines.set(socket, fresh)
      begin(req, res, fresh)
    } else if (line.length < MOST_BEHIND) line.push([req, res])
    else refuse(req, res)
  }
}
