/**
 * A pooler in transaction mode, as PgBouncer is one: clients share a few sessions of the server, each for a transaction. It
 * refuses the parameters of a start that it does not know, and tells of a process that is not the server's.
 */
import { once } from 'node:events'
import net from 'node:net'

export interface Pooler {
  url: string
  /** How many transactions it has passed on. */
  transactions(): number
  close(): Promise<void>
}

interface Options {
  /** Sessions at the server. */
  size?: number
  /** Tells of the process that the first transaction will have. */
  honest?: boolean
}

/** Calls `take` with each message. A start has no type. */
export function messages(take: (type: string, message: Buffer) => void, isStart = false) {
  let rest = Buffer.alloc(0)
  return (piece: Buffer) => {
    rest = Buffer.concat([rest, piece])
    for (;;) {
      const at = isStart ? 0 : 1
      if (rest.length < at + 4) return
      const end = at + rest.readInt32BE(at)
      if (rest.length < end) return
      const message = rest.subarray(0, end)
      rest = rest.subarray(end)
      take(isStart ? 'start' : String.fromCharCode(message[0]!), message)
      isStart = false
    }
  }
}

function made(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))
  const head = Buffer.alloc(5, type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const numbers = (...all: number[]) => {
  const buffer = Buffer.alloc(4 * all.length)
  for (const [i, number] of all.entries()) buffer.writeInt32BE(number, 4 * i)
  return buffer
}

const KNOWN = ['user', 'database', 'application_name', 'client_encoding']

/** One session at the server; `heard` gets what it says. */
class Session {
  readonly socket: net.Socket
  pid = 0
  heard: ((message: Buffer, type: string) => void) | null = null

  constructor(url: string) {
    const { hostname, port, username, pathname } = new URL(url)
    this.socket = net.connect(Number(port), hostname)
    const fields = ['user', username, 'database', pathname.slice(1), ''].map(field => `${field}\0`).join('')
    this.socket.write(Buffer.concat([numbers(8 + Buffer.byteLength(fields), 196_608), Buffer.from(fields)]))
    this.socket
      .on('error', () => {})
      .on(
        'data',
        messages((type, message) => {
          if (type === 'K') this.pid = message.readInt32BE(5)
          this.heard?.(message, type)
        }),
      )
  }

  /** Resolves once it takes statements. */
  async open(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.heard = (_, type) => {
        if (type === 'Z') resolve()
        if (type === 'E') reject(new Error('the server refuses'))
      }
      this.socket.once('close', () => reject(new Error('the server has hung up')))
    })
    this.heard = null
    return this
  }
}

export async function startTransactionPooler(url: string, { size = 3, honest = false }: Options = {}): Promise<Pooler> {
  const sockets = new Set<net.Socket>()
  const idle: Session[] = []
  const waiting: (() => void)[] = []
  let transactions = 0

  const release = (session: Session) => {
    session.heard = null
    transactions++
    idle.push(session)
    waiting.shift()?.()
  }
  const refill = async () => {
    const session = await new Session(url).open()
    sockets.add(session.socket)
    idle.push(session)
    session.socket.once('close', () => {
      const at = idle.indexOf(session)
      if (at !== -1) idle.splice(at, 1)
      sockets.delete(session.socket)
    })
    waiting.shift()?.()
  }
  for (let i = 0; i < size; i++) await refill()

  const serve = (client: net.Socket) => {
    sockets.add(client)
    let session: Session | null = null
    let isWaiting = false
    /** Answers that end with ReadyForQuery and have not come. */
    let open = 0
    const held: Buffer[] = []
    const take = () => {
      isWaiting = false
      session = idle.shift() ?? null
      if (!session) return wait()
      session.heard = (message, type) => {
        client.write(message)
        if (type === 'Z') open--
        if (open > 0 || type !== 'Z' || message[5] !== 'I'.charCodeAt(0)) return
        const done = session!
        session = null
        release(done)
        if (held.length > 0) wait()
      }
      for (const message of held.splice(0)) session.socket.write(message)
    }
    const wait = () => {
      if (isWaiting) return
      isWaiting = true
      if (idle.length > 0) take()
      else waiting.push(take)
    }
    const greet = (message: Buffer) => {
      const fields = message.subarray(8).toString().split('\0')
      const unknown = fields.find((name, i) => i % 2 === 0 && name !== '' && !KNOWN.includes(name))
      if (unknown) {
        const words = `SFATAL\0C08P01\0Munsupported startup parameter: ${unknown}\0\0`
        return void client.end(made('E', words))
      }
      const pid = honest ? (idle[0]?.pid ?? 0) : 1_000_000 + sockets.size
      client.write(Buffer.concat([made('R', numbers(0)), made('K', numbers(pid, 7)), made('Z', 'I')]))
    }
    const read = messages((type, message) => {
      if (type === 'start') return greet(message)
      if (type === 'X') return void client.end()
      if (type === 'S' || type === 'Q') open++
      if (session) return void session.socket.write(message)
      held.push(Buffer.from(message))
      wait()
    }, true)
    client
      .on('data', read)
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(client)
        // Its transaction is over, and so is the session that had it.
        if (session) {
          session.heard = null
          session.socket.destroy()
          session = null
          refill().catch(() => {})
        }
      })
  }
  const server = net.createServer(serve)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const through = new URL(url)
  through.port = String((server.address() as net.AddressInfo).port)
  return {
    url: through.href,
    transactions: () => transactions,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
