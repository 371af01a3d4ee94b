/** A place that the agent has no business with. Whoever calls it is recorded, and gets a 404. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

export class OtherHost {
  readonly #server: http.Server
  url = ''

  /** `heard` gets the URL that was asked for, and of a tunnel the host. */
  constructor(heard: (method: string, asked: string) => void) {
    this.#server = http.createServer((request, response) => {
      const { method = '', url = '' } = request
      heard(method, url.startsWith('/') ? this.url + url : url)
      request.resume()
      response.writeHead(404, { connection: 'close' }).end()
    })
    this.#server.on('connect', (request, socket) => {
      heard('CONNECT', request.url ?? '')
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    })
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}
