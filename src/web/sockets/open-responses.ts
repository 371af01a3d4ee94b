/** Which responses are not finished: a server that closes waits for them. */
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

export function inFlight() {
  let count = 0
  let rest = () => {}
  const responses = new WeakMap<Duplex, Set<ServerResponse>>()
  const counted = new WeakSet<ServerResponse>()
  const release = (res: ServerResponse) => {
    if (counted.delete(res) && --count === 0) rest()
  }
  return {
    add(socket: Duplex, res: ServerResponse) {
      count++
      counted.add(res)
      const own = responses.get(socket) ?? new Set()
      responses.set(socket, own.add(res))
      res.once('close', () => {
        own.delete(res)
        release(res)
      })
    },
    /** Counts a response no more, as one that ends only when somebody ends it. */
    release,
    /** Whether a response has begun on this connection: nothing else may be written into the middle of it. */
    hasBegun(socket: Duplex) {
      const [first] = responses.get(socket) ?? []
      return first?.headersSent === true
    },
    async ended(graceMs: number) {
      if (count === 0) return
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, graceMs)
        rest = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
  }
}
