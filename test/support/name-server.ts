/** A name server on this machine, over UDP: says what a test wants, or nothing at all. */
import dgram from 'node:dgram'
import type net from 'node:net'

/** IPv4 addresses; or that there is no such name, that it can't be found out, or nothing at all. */
export type Said = readonly string[] | 'absent' | 'failed' | 'silence'

export interface NameServer {
  /** As a resolver takes it. */
  address: string
  /** What was asked for, `name type`, in order. */
  asked: string[]
  close(): void
}

const TYPES: Readonly<Record<number, string>> = { 1: 'A', 2: 'NS', 28: 'AAAA' }
const CODES = { absent: 3, failed: 2 } as const

export async function openNameServer(say: (name: string, type: string) => Said): Promise<NameServer> {
  const asked: string[] = []
  const socket = dgram.createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query)
    asked.push(`${name} ${type}`)
    const said = say(name, type)
    if (said !== 'silence') socket.send(answerTo(query.subarray(0, end), type, said), from.port, from.address)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  const { port } = socket.address() as net.AddressInfo
  let isOpen = true
  const close = () => {
    if (isOpen) socket.close()
    isOpen = false
  }
  return { address: `127.0.0.1:${port}`, asked, close }
}

function questionOf(query: Buffer) {
  const labels: string[] = []
  let at = 12
  while (query[at]! > 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    at += 1 + query[at]!
  }
  return { name: labels.join('.').toLowerCase(), type: TYPES[query.readUInt16BE(at + 1)] ?? '?', end: at + 5 }
}

function answerTo(question: Buffer, type: string, said: Exclude<Said, 'silence'>): Buffer {
  const addresses = typeof said === 'string' || type !== 'A' ? [] : said
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180 | (typeof said === 'string' ? CODES[said] : 0), 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  // The name again, by its place; type A, class IN, a minute, four bytes.
  const records = addresses.map(address =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]),
  )
  return Buffer.concat([head, ...records])
}
