// A reverse proxy in front of the agent: it adds headers, sends bodies on in other pieces, packs answers and keeps no connection.
import { createServer, request } from 'node:http'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

const PIECE_BYTES = 1_000

const inPieces = () =>
  new Transform({
    transform(chunk, _encoding, done) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) this.push(chunk.subarray(at, at + PIECE_BYTES))
      done()
    },
  })

/** Listens at the port, and lets the server listen somewhere else. Returns the proxy. */
export function proxyTo(server, port) {
  const front = createServer((asked, response) => {
    pass(server.address().port, asked, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1', () => front.listen(port, '127.0.0.1', () => console.log('The agent listens')))
  return front
}

async function pass(port, asked, response) {
  const { method, url: path, headers, socket } = asked
  const { 'content-length': _, connection: __, ...kept } = headers
  const added = { 'x-forwarded-for': socket.remoteAddress, 'x-forwarded-proto': 'https', via: '1.1 proxy' }
  const passed = request({ port, host: '127.0.0.1', method, path, headers: { ...kept, ...added } })
  const answering = new Promise((resolve, reject) => passed.once('response', resolve).once('error', reject))
  await Promise.all([answering.then(answer => back(answer, response)), pipeline(asked, inPieces(), passed)])
}

function back(answer, response) {
  const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip', Connection: 'close' }
  response.writeHead(answer.statusCode, headers)
  return pipeline(answer, createGzip(), response)
}
