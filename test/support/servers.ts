/** Servers on this machine for one test, and ways out to them; all are closed after it, also when it fails. */
import http from 'node:http'
import net from 'node:net'
import tls from 'node:tls'
import { createEgress, type EgressOptions } from '../../src/world/egress/egress.ts'
import { PATIENCE_MS } from './patience.ts'

const closers: (() => unknown)[] = []

/** For `test.after.each`. */
export async function closeOpened(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close()
}

/** Closes it after the test. */
export async function opened<Thing extends { close(): unknown }>(thing: Thing | Promise<Thing>): Promise<Thing> {
  const open = await thing
  closers.push(() => open.close())
  return open
}

export function openEgress(options: EgressOptions) {
  const egress = createEgress(options)
  closers.push(() => egress.close())
  return egress
}

export const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

export interface TlsCredentials {
  key: string
  cert: string
}

/** A server of raw sockets, behind TLS if it has a certificate, that knows how many are open and what came in. */
export async function rawServer(onSocket: (socket: net.Socket) => void, credentials?: TlsCredentials) {
  const open = new Set<net.Socket>()
  let connections = 0
  let bytes = 0
  const server = net.createServer(tcp => {
    connections++
    open.add(tcp)
    tcp.on('error', () => {}).once('close', () => open.delete(tcp))
    const socket = credentials ? behindTls(tcp, credentials) : tcp
    socket.on('data', chunk => {
      bytes += chunk.length
    })
    onSocket(socket)
  })
  await listening(server)
  async function allClosed() {
    for (let waited = 0; open.size > 0 && waited < PATIENCE_MS; waited += 10) await pause(10)
    return open.size === 0
  }
  const close = () => {
    for (const socket of open) socket.destroy()
    server.close()
  }
  closers.push(close)
  return { port: portOf(server), connections: () => connections, bytes: () => bytes, allClosed, close }
}

function behindTls(tcp: net.Socket, credentials: TlsCredentials): net.Socket {
  const secure = new tls.TLSSocket(tcp, { isServer: true, ...credentials })
  secure.on('error', () => {})
  // Only what lies below TLS can be reset.
  return Object.assign(secure, { resetAndDestroy: () => tcp.resetAndDestroy() })
}

export async function httpServer(handler: http.RequestListener) {
  const server = http.createServer(handler)
  await listening(server)
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  closers.push(close)
  return { url: `http://127.0.0.1:${portOf(server)}`, close }
}

/** Answers every request with 200 and counts its handshakes. */
export async function tlsServer(credentials: TlsCredentials) {
  let handshakes = 0
  const open = new Set<net.Socket>()
  const server = tls.createServer({ ...credentials }, socket => {
    handshakes++
    open.add(socket)
    socket.on('error', () => {}).on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  })
  await listening(server.on('tlsClientError', () => {}))
  const close = () => {
    for (const socket of open) socket.destroy()
    server.close()
  }
  closers.push(close)
  return { port: portOf(server), handshakes: () => handshakes, close }
}

const listening = (server: net.Server) =>
  new Promise<void>(resolve => void server.listen(0, '127.0.0.1', () => resolve()))

const portOf = (server: net.Server) => (server.address() as net.AddressInfo).port
