/** A name server on this machine: every name has one public address, but those that begin with `silent-` get no answer. */
import dgram from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export interface NameServer {
  /** `127.0.0.1:PORT` */
  address: string
  /** Questions that got no answer. */
  readonly unanswered: number
  close(): Promise<void>
}

const PUBLIC = [9, 9, 9, 9]
const TYPE_A = 1

export async function startNameServer(): Promise<NameServer> {
  const socket = dgram.createSocket('udp4')
  let unanswered = 0
  socket.on('message', (question, from) => {
    const { name, end } = nameIn(question)
    if (name.startsWith('silent-')) unanswered++
    else socket.send(answerTo(question, end), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    get unanswered() {
      return unanswered
    },
    close: async () => void socket.close(),
  }
}

/** The first question's name, and where the question ends. */
function nameIn(packet: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = packet[at]!; length > 0; length = packet[at]!) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 }
}

/** One address for a question of type A, none for any other. */
function answerTo(packet: Buffer, end: number): Buffer {
  const found = packet.readUInt16BE(end - 4) === TYPE_A
  const head = Buffer.from(packet.subarray(0, 12))
  head.writeUInt16BE(0x81_80, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(found ? 1 : 0, 6)
  head.writeUInt32BE(0, 8)
  const record = Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, ...PUBLIC])
  return Buffer.concat([head, packet.subarray(12, end), ...(found ? [record] : [])])
}
