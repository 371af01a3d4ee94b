/** Opens one TCP connection to a name with several addresses. Source: RFC 8305. */
import net from 'node:net'
import type { Resolved } from './addresses.ts'

/** How long one address has before the next one is tried too. */
const HEAD_START_MS = 250
/** The owner of a name must not be able to make us connect to any number of other machines. */
const MOST_ADDRESSES = 8

/**
 * Gives connections that Node makes by itself (the database, `fetch`) more time for each address. Node's own limit is a
 * quarter of a second, which is too short for a distant server or a busy machine. It applies to the whole process, so only
 * a program should call it, once.
 */
export const waitForSlowAddresses = () => net.setDefaultAutoSelectFamilyAttemptTimeout(2_500)

/**
 * Connects to the first address that accepts. None is given up because it is slow. Rejects with the first error when all
 * have failed, or with the signal's reason.
 */
export function connectToAny(addresses: readonly Resolved[], port: number, signal: AbortSignal): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const left = alternating(addresses).slice(0, MOST_ADDRESSES)
    const opening = new Set<net.Socket>()
    let firstError: Error | undefined
    let timer: NodeJS.Timeout | undefined

    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      // Emptied, because an error may still come and would try the next address.
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

/** Alternates between the two families, because one of them may not respond at all. */
function alternating(addresses: readonly Resolved[]): Resolved[] {
  const first = addresses[0]?.family
  const [ones, others] = [addresses.filter(a => a.family === first), addresses.filter(a => a.family !== first)]
  return ones.flatMap((one, at) => [one, ...others.slice(at, at + 1)]).concat(others.slice(ones.length))
}
