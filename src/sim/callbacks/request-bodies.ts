/** The bodies of requests, whole in memory as long as they are served. All of them together are bounded. */
import type { IncomingMessage } from 'node:http'

/** Whoever has more to say waits until others like it are served, and sends the rest then. */
const SHORT_BYTES = 1024 * 1024
/** Files of a deliverable fit in. */
const MOST_BYTES = 64 * 1024 * 1024
/** Of connections, each with a short body. */
export const MOST_CONNECTIONS = 256

export class Bodies {
  /** The last of those that are long. */
  #last: Promise<void> = Promise.resolve()

  /** Resolves to what `use` makes of the body. Rejects if it is too long, or ends before its end. */
  async read<Result>(request: IncomingMessage, use: (body: Buffer) => Promise<Result>): Promise<Result> {
    const chunks: Buffer[] = []
    let size = 0
    let isLong = false
    let end = () => {}
    try {
      for await (const chunk of request) {
        size += chunk.length
        if (size > MOST_BYTES) throw new Error('The body is too long')
        chunks.push(chunk)
        if (size <= SHORT_BYTES || isLong) continue
        isLong = true
        const before = this.#last
        this.#last = new Promise(resolve => (end = resolve))
        await before
      }
      return await use(Buffer.concat(chunks))
    } finally {
      end()
    }
  }
}
