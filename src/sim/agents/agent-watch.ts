/** Watches whether an agent of this machine accepts connections. Sends it nothing. */
import net from 'node:net'
import { lookup } from './https-front.ts'

interface Heard {
  /** It accepts. `wasDown`: it did not, since `look` was called. */
  onUp(wasDown: boolean): void
  /** Nothing listens, for the first time since `look` was called. */
  onDown(): void
}

const PAUSE_MS = 100
/** While it is up, nobody waits for it. */
const PAUSE_WHILE_UP_MS = 500

export class AgentWatch {
  readonly #target: URL
  readonly #heard: Heard
  #timer: NodeJS.Timeout | undefined
  #looking = false
  #untilBack = false
  #down = false
  #closed = false

  constructor(target: string, heard: Heard) {
    this.#target = new URL(target)
    this.#heard = heard
  }

  /** Looks until the agent accepts; with `untilBack`, until it has been down and accepts again. */
  look({ untilBack = false } = {}): void {
    this.#untilBack = untilBack
    if (this.#looking || this.#closed) return
    this.#looking = true
    void this.#lookOnce()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  async #lookOnce(): Promise<void> {
    const up = await accepts(this.#target, lookup)
    if (this.#closed) return
    if (up && (this.#down || !this.#untilBack)) return this.#end()
    if (!up && !this.#down) {
      this.#down = true
      this.#heard.onDown()
    }
    this.#timer = setTimeout(() => this.#lookOnce(), this.#down ? PAUSE_MS : PAUSE_WHILE_UP_MS)
  }

  #end(): void {
    const wasDown = this.#down
    this.#down = false
    this.#looking = false
    this.#heard.onUp(wasDown)
  }
}

const PATIENCE_MS = 2_000

/** Whether something listens there. `by` finds the address of a name, if not the system. */
export function accepts({ hostname, port }: URL, by?: net.LookupFunction): Promise<boolean> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const socket = net.connect({ host, port: Number(port || 80), autoSelectFamily: true, ...(by && { lookup: by }) })
  return new Promise(resolve => {
    const end = (up: boolean) => {
      socket.destroy()
      resolve(up)
    }
    socket.once('connect', () => end(true)).on('error', () => end(false))
    socket.setTimeout(PATIENCE_MS, () => end(false))
  })
}
