/** The load: a process of its own that writes ready-made requests to sockets and counts whole answers. */
import net from 'node:net'
import { answer } from './worker.ts'

export interface Load {
  port: number
  connections: number
  /** Ready to be written; each connection takes the next one. */
  requests: string[]
  /** How long to go round; without it, each request is sent once. */
  ms?: number
  /** The status that is counted as an answer; any in the 200s unless given. */
  status?: number
}

export interface Measured {
  /** Answers with the status that is wanted, per second. */
  rate: number
  answers: number
  /** The first answer that was none of those. */
  fault: string | null
}

answer({ run })

async function run({ port, connections, requests, ms, status }: Load): Promise<Measured> {
  const until = ms === undefined ? Number.POSITIVE_INFINITY : performance.now() + ms
  let at = 0
  let answers = 0
  let fault: string | null = null
  const next = () => {
    if (performance.now() >= until || (ms === undefined && at >= requests.length)) return null
    return requests[at++ % requests.length]!
  }
  const done = (head: string, body: Buffer) => {
    if (head.startsWith(`HTTP/1.1 ${status ?? 2}`)) answers++
    else fault ??= `${head.slice(0, head.indexOf('\r'))} ${body.toString().slice(0, 300)}`
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: connections }, () => connection(port, next, done)))
  return { rate: answers / ((performance.now() - started) / 1000), answers, fault }
}

/** One connection: a request, its whole answer, the next request. */
function connection(port: number, next: () => string | null, done: (head: string, body: Buffer) => void) {
  return new Promise<void>((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
    let kept = Buffer.alloc(0)
    const send = () => {
      const request = next()
      if (request === null) socket.end()
      else socket.write(request)
    }
    socket.on('connect', send)
    socket.on('data', chunk => {
      kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      const whole = wholeAnswer(kept)
      if (!whole) return
      kept = Buffer.alloc(0)
      done(whole.head, whole.body)
      send()
    })
    socket.on('error', reject).on('close', () => resolve())
  })
}

function wholeAnswer(bytes: Buffer) {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = bytes.toString('latin1', 0, end + 2)
  const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1])
  if (Number.isNaN(length)) throw new Error(`An answer without a length: ${head}`)
  return bytes.length < end + 4 + length ? null : { head, body: bytes.subarray(end + 4) }
}
