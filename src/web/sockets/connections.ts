/**
 * Bounds connections: their number, in all and for one address, and how slowly a client may read a response. Source: A-180.
 */

import type { default as http, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Log } from '../../market/log.ts'
import { networkOf } from './client-address.ts'
import { outgoing } from './node-internals.ts'
export interface ConnectionBounds {
  readonly connections: number
  /** null: no bound. Behind a proxy all connections come from one address, and a simulator has one user. */
  readonly ofAddress: number | null
  /** How often readers are checked. One that is too slow for six checks is disconnected. */
  readonly lookMs: number
}

const LOOKS = 6
/** The bytes that a reader must take in that time, unless nothing is left: 4 KiB a second with a check every 5 s. */
const LEAST_BYTES = 120 * 1024

/** The state of one connection. */
interface Reader {
  taken: number
  /** How many checks in a row found bytes waiting for it. */
  looks: number
}

export function boundConnections(server: http.Server, bounds: ConnectionBounds, log: Log) {
  const readers = new Map<Socket, Reader>()
  const ofAddress = new Map<string, number>()
  server.maxConnections = bounds.connections
  server.on('drop', data => log({ type: 'cut_off', reason: 'connections', address: data?.remoteAddress ?? null }))

  server.on('connection', (socket: Socket) => {
    const address = networkOf(socket.remoteAddress) ?? ''
    const open = (ofAddress.get(address) ?? 0) + 1
    if (bounds.ofAddress !== null && open > bounds.ofAddress) {
      log({ type: 'cut_off', reason: 'connections_of_address', address })
      socket.destroy()
      return
    }
    ofAddress.set(address, open)
    readers.set(socket, { taken: 0, looks: 0 })
    socket.once('close', () => {
      readers.delete(socket)
      const left = (ofAddress.get(address) ?? 1) - 1
      if (left > 0) ofAddress.set(address, left)
      else ofAddress.delete(address)
    })
  })

  const look = () => {
    for (const [socket, reader] of readers) {
      if (!isTooSlow(socket, reader)) continue
      log({ type: 'cut_off', reason: 'slow_reader', address: networkOf(socket.remoteAddress) ?? null })
      socket.destroy()
    }
  }
  const timer = setInterval(look, bounds.lookMs).unref()

  return {
    get open() {
      return readers.size
    },
    stop: () => clearInterval(timer),
  }
}

function isTooSlow(socket: Socket, reader: Reader): boolean {
  const { waiting, taken } = outgoing(socket)
  if (waiting === 0) {
    reader.looks = 0
    return false
  }
  if (reader.looks++ === 0) reader.taken = taken
  if (reader.looks <= LOOKS) return false
  if (taken - reader.taken < LEAST_BYTES) return true
  reader.looks = 1
  reader.taken = taken
  return false
}

/** Which responses are not finished: a server that closes waits for them. */
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
