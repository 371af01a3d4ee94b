/** An agent of the test that `emit` sends to: each test says what it does. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

export class EmitAgent {
  /** All that it was sent. */
  readonly requests: http.IncomingMessage[] = []
  handle: http.RequestListener = () => {}
  /** Its webhook URL, once it listens. */
  url = ''
  readonly #server = http.createServer((request, response) => {
    this.requests.push(request)
    this.handle(request, response)
  })

  async listen(): Promise<void> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhook`
  }

  close(): Promise<void> {
    return new Promise(resolve => this.#server.close(() => resolve()).closeAllConnections())
  }
}
