/** Opens a port. Its error is a sentence for people. */
import type http from 'node:http'
import type { AddressInfo } from 'node:net'

/** `flag`: the option that chooses another port, for the error message. */
export function listen(
  server: http.Server,
  { host, port, flag }: { host: string; port: number; flag: string },
): Promise<{ url: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const words = `Port ${port} is in use; choose another with ${flag} (0 takes a free one)`
      reject(error.code === 'EADDRINUSE' ? new Error(words, { cause: error }) : error)
    })
    server.listen({ host, port }, () => {
      const { port: bound } = server.address() as AddressInfo
      server.removeAllListeners('error').on('error', () => {}) // a failed accept concerns one client, not the server
      resolve({ url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`, port: bound })
    })
  })
}
