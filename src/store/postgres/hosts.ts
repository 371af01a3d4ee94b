/** The hosts of one address, of which one takes writes: the one that did so last is asked first. */
import pg from 'pg'
import { hostsOf } from '../../shared/postgres-address.ts'
import { endsConnection } from './errors.ts'

export class Hosts {
  readonly #urls: readonly string[]
  #at = 0
  /** The connections that are of use. */
  #made = new WeakSet<object>()
  /** Makes connections to the host of this moment. */
  readonly Client: new () => pg.ClientBase

  constructor(url: string) {
    const urls = hostsOf(url)
    this.#urls = urls.length > 0 ? urls : [url]
    const current = () => this.#current
    const made = (client: pg.ClientBase) => this.#made.add(client)
    this.Client = class extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        super({ ...config, connectionString: current() })
        made(this)
      }
    }
  }

  get count() {
    return this.#urls.length
  }

  /** In words, without the password. */
  get name() {
    const [first] = this.#urls
    const { pathname, username } = URL.canParse(first!) ? new URL(first!) : { pathname: '/?', username: '?' }
    const hosts = this.#urls.map(url => (URL.canParse(url) ? new URL(url).host : '?'))
    return `database ${pathname.slice(1)} at ${hosts.join(', ')} as ${username || 'the default user'}`
  }

  get #current() {
    return this.#urls[this.#at]!
  }

  /** The server of this connection takes no writes any more, so all that lead there are of no use: what they read may be old. */
  leave(client: pg.ClientBase): void {
    if (!this.hasLeft(client)) this.#made = new WeakSet()
  }

  hasLeft = (client: pg.ClientBase) => !this.#made.has(client)

  /** Tries one host after the other, each once, until one can be connected to and takes writes. */
  async each<T>(connect: () => Promise<T>): Promise<T> {
    for (let left = this.count; ; left--) {
      try {
        return await this.once(connect)
      } catch (error) {
        if (left === 1 || !endsConnection(error)) throw error
      }
    }
  }

  /** Tries one host. The next call tries another if this one fails. */
  async once<T>(connect: () => Promise<T>): Promise<T> {
    const tried = this.#at
    try {
      return await connect()
    } catch (error) {
      if (tried === this.#at && endsConnection(error)) this.#at = (tried + 1) % this.count
      throw error
    }
  }
}
