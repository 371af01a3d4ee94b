/** One TCP connection to a name with several addresses. Source: RFC 8305. */
import net from 'node:net'
import type { Resolved } from './addresses.ts'

/** Before the next address is tried as well. */
const HEAD_START_MS = 250
/** Whoever owns a name must not have us knock at any number of others' doors. */
const MOST_ADDRESSES = 8

/**
 * Node gives up an address after a quarter of a second and goes to the next one: far away, or on a busy machine, that is
 * where an honest server is just about to answer. Whatever Node connects by itself (the database, `fetch`) gets more time
 * by this. It holds for the whole process, so it is for a program to call, once.
 */
export const waitForSlowAddresses = () => net.setDefaultAutoSelectFamilyAttemptTimeout(2_500)

/**
 * Connects to the first of these that takes the connection; none is given up for being slow. Rejects with the first
 * error when all have failed, and with the signal's reason.
 */
export function connectToAny(addresses: readonly Resolved[], port: number, signal: AbortSignal): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const left = inTurn(addresses).slice(0, MOST_ADDRESSES)
    const opening = new Set<net.Socket>()
    let firstError: Error | undefined
    let timer: NodeJS.Timeout | undefined

    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      // Emptied, as an error may be on its way still.
      left.length = 0
      for (const socket of opening) socket.destroy()
      opening.clear()
    }
    const stop = () => {
      end()
      reject(signal.reason)
    }
    const win = (socket: net.Socket) => {
      opening.delete(socket)
      end()
      resolve(socket)
    }
    const lose = (socket: net.Socket, error: Error) => {
      if (!opening.delete(socket)) return
      firstError ??= error
      if (left.length > 0) tryNext()
      else if (opening.size === 0) {
        end()
        reject(firstError)
      }
    }
    const tryNext = () => {
      clearTimeout(timer)
      const { address, family } = left.shift()!
      const socket = net.connect({ host: address, family, port, noDelay: true })
      opening.add(socket)
      socket.once('connect', () => win(socket)).on('error', error => lose(socket, error))
      if (left.length > 0) timer = setTimeout(tryNext, HEAD_START_MS)
    }

    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    tryNext()
  })
}

/** One of each family in turn, as one of them may be silent as a whole. */
function inTurn(addresses: readonly Resolved[]): Resolved[] {
  const first = addresses[0]?.family
  const [ones, others] = [addresses.filter(a => a.family === first), addresses.filter(a => a.family !== first)]
  return ones.flatMap((one, at) => [one, ...others.slice(at, at + 1)]).concat(others.slice(ones.length))
}
