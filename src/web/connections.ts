/** Bounds the connections: how many there are, in all and of one address, and how slowly an answer may be read. Source: A-49. */
import type http from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../market/log.ts'
import { networkOf } from './client-address.ts'

export interface ConnectionBounds {
  readonly connections: number
  /** null: behind a proxy all come from one address, and a simulator has one user. */
  readonly ofAddress: number | null
  /** How often readers are looked at; whoever is slow for six looks is cut off. */
  readonly lookMs: number
}

const LOOKS = 6
/** That a reader takes between those looks, or all there is: 4 KiB a second with a look each 5 s. */
const LEAST_BYTES = 120 * 1024

/** What is known of one connection. */
interface Reader {
  taken: number
  /** Looks in a row at which bytes waited for it. */
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

interface Handle {
  bytesWritten?: number
  writeQueueSize?: number
}

/**
 * Bytes that wait for the other side, and those it took. A large piece is written by the system bit by bit, which only
 * the handle below the socket knows; Node's own time-out of a socket asks it as well, but is put off by whatever comes in.
 */
function outgoing(socket: Socket): { waiting: number; taken: number } {
  const { bytesWritten = 0, writeQueueSize = 0 } = (socket as Socket & { _handle?: Handle | null })._handle ?? {}
  return { waiting: Math.max(socket.writableLength, writeQueueSize), taken: bytesWritten - writeQueueSize }
}
