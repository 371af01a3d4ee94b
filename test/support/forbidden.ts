/** The table of forbidden addresses, and canaries that must never see a connection. Source: A-42. */
import { readFileSync } from 'node:fs'
import net from 'node:net'
import type { OutgoingFailure } from '../../src/world/world.ts'

export interface ForbiddenRow {
  /** With `{port}` for the port of the canaries. */
  url: string
  kind: string
  /** What serve says of it. */
  reason: OutgoingFailure
}

const table = new URL('../../fixtures/forbidden-addresses.json', import.meta.url)

export const { addresses } = JSON.parse(readFileSync(table, 'utf8')) as { addresses: ForbiddenRow[] }

/** Listens on 127.0.0.1 and, where there is IPv6, on ::1, at one port; counts who comes. */
export async function canaries() {
  let connections = 0
  const count = (socket: net.Socket) => {
    connections++
    socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  }
  const first = net.createServer(count).listen(0, '127.0.0.1')
  await new Promise(resolve => first.once('listening', resolve))
  const { port } = first.address() as net.AddressInfo
  const second = net.createServer(count).listen(port, '::1')
  await new Promise(resolve => second.once('listening', resolve).once('error', resolve))
  const close = () => {
    first.close()
    second.close()
  }
  return {
    port,
    seen: () => connections,
    /** A row's URL, aimed at these. */
    aimed: ({ url }: ForbiddenRow) => url.replaceAll('{port}', String(port)),
    close,
  }
}
