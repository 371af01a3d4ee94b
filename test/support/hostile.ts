/** Endpoints that mean harm, and what a request to each must end as. Source: A-42. */
import type net from 'node:net'
import { gzipSync } from 'node:zlib'

export type Behaviour = (socket: net.Socket) => void

const OK = 'HTTP/1.1 200 OK\r\n'

const forever = (socket: net.Socket, text: string, ms: number) => {
  const timer = setInterval(() => socket.write(text), ms)
  socket.once('close', () => clearInterval(timer))
}

const flood = (socket: net.Socket, text: string) => {
  const more = () => {
    while (!socket.destroyed && socket.write(text)) {}
  }
  socket.on('drain', more)
  more()
}

const onRequest =
  (work: Behaviour): Behaviour =>
  socket =>
    void socket.once('data', () => work(socket))

const says = (text: string | Buffer): Behaviour => onRequest(socket => void socket.end(text))

const redirect = (status: number, location: string) =>
  says(`HTTP/1.1 ${status} Found\r\nLocation: ${location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)

const bomb = gzipSync(Buffer.alloc(10_000_000))
const bombHead = `${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\nConnection: close\r\n\r\n`

/** What they do → what comes of it: a reason, or a status. */
export const hostile: Readonly<Record<string, readonly [expected: string, behave: Behaviour]>> = {
  'never answers': ['timeout', () => {}],
  'drips its headers': [
    'timeout',
    onRequest(socket => {
      socket.write(OK)
      forever(socket, 'X-A: b\r\n', 20)
    }),
  ],
  'drips its body': [
    'timeout',
    onRequest(socket => {
      socket.write(`${OK}Content-Length: 10000\r\n\r\n`)
      forever(socket, 'x', 20)
    }),
  ],
  'drips chunks': [
    'timeout',
    onRequest(socket => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`)
      forever(socket, '1\r\nx\r\n', 20)
    }),
  ],
  'says 102 Processing for ever': [
    'timeout',
    onRequest(socket => forever(socket, 'HTTP/1.1 102 Processing\r\n\r\n', 10)),
  ],
  'says 100 Continue unasked': [
    'bad_answer',
    onRequest(socket => forever(socket, 'HTTP/1.1 100 Continue\r\n\r\n', 10)),
  ],
  'never ends its body': [
    'answered 200',
    onRequest(socket => {
      socket.write(`${OK}\r\n`)
      flood(socket, 'x'.repeat(65_536))
    }),
  ],
  'floods chunks': [
    'answered 200',
    onRequest(socket => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`)
      flood(socket, `10000\r\n${'x'.repeat(65_536)}\r\n`)
    }),
  ],
  'sends a gzip bomb': ['answered 200', says(Buffer.concat([Buffer.from(bombHead), bomb]))],
  'sends 1 MB of headers': [
    'bad_answer',
    onRequest(socket => {
      socket.write(OK)
      flood(socket, `X-Long: ${'x'.repeat(4000)}\r\n`)
    }),
  ],
  'sends one endless header': [
    'bad_answer',
    onRequest(socket => {
      socket.write(`${OK}X-Long: `)
      flood(socket, 'x'.repeat(4000))
    }),
  ],
  'speaks no HTTP': ['bad_answer', onRequest(socket => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'))],
  'has two lengths': [
    'bad_answer',
    onRequest(socket => void socket.write(`${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`)),
  ],
  'resets at once': ['reset', socket => void socket.resetAndDestroy()],
  'resets after the request': ['reset', onRequest(socket => void socket.resetAndDestroy())],
  'hangs up after the request': ['reset', onRequest(socket => void socket.end())],
  'breaks off its body': ['reset', says(`${OK}Content-Length: 9\r\n\r\nx`)],
  'breaks off a chunk': ['reset', says(`${OK}Transfer-Encoding: chunked\r\n\r\n9\r\nx`)],
  'redirects to itself for ever': ['answered 307', redirect(307, '/')],
  'redirects in a circle of hosts': ['answered 302', redirect(302, 'https://localhost:1/back')],
  'wants to upgrade': [
    'bad_answer',
    onRequest(
      socket => void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    ),
  ],
}
