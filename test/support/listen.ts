/** A server of a test's own, at a free port of loopback. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

export async function listen(handler: http.RequestListener) {
  const server = http.createServer(handler)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => new Promise<void>(resolve => server.close(() => resolve()).closeAllConnections())
  return { port, url: `http://127.0.0.1:${port}`, close }
}
