/** Which responses are not finished: a server that closes waits for them. */
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

export function inFlight() {
  let count = 0
  let rest = () => {}
  const answers = new WeakMap<Duplex, Set<ServerResponse>>()
  return {
    add(socket: Duplex, res: ServerResponse) {
      count++
      const own = answers.get(socket) ?? new Set()
      answers.set(socket, own.add(res))
      res.once('close', () => {
        own.delete(res)
        if (--count === 0) rest()
      })
    },
    /** Whether a response has begun on this connection: nothing else may be written into the middle of it. */
    hasBegun(socket: Duplex) {
      const [first] = answers.get(socket) ?? []
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
