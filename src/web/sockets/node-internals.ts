/**
 * What is private to Node and used here: the handle below a socket, which counts the bytes that the system has taken.
 * Tried with Node 20.20. Without it readers are judged by whole pieces of an answer.
 */
import type { Socket } from 'node:net'

interface Handle {
  bytesWritten: number
  writeQueueSize: number
}

/**
 * Bytes that wait for the other side, and those it took. A large piece is written by the system bit by bit, which only
 * the handle knows; Node's own time-out of a socket asks it as well, but is put off by whatever comes in.
 */
export function outgoing(socket: Socket): { waiting: number; taken: number } {
  const handle = handleOf(socket)
  if (!handle) return { waiting: socket.writableLength, taken: socket.bytesWritten - socket.writableLength }
  const { bytesWritten, writeQueueSize } = handle
  return { waiting: Math.max(socket.writableLength, writeQueueSize), taken: bytesWritten - writeQueueSize }
}

/**
 * Returns null if the socket has none, or one that does not count.
 * @internal A test proves that this version of Node has it.
 */
export function handleOf(socket: Socket): Handle | null {
  const { _handle: handle } = socket as Socket & { _handle?: Partial<Handle> | null }
  return typeof handle?.bytesWritten === 'number' && typeof handle.writeQueueSize === 'number'
    ? (handle as Handle)
    : null
}
