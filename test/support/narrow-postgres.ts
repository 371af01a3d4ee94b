/**
 * A Postgres that refuses what servers refuse that only speak as it does: it stands before a real one, which then answers as to any
 * statement that it can't do. Its transactions are SERIALIZABLE, all of them.
 */
import { once } from 'node:events'
import net from 'node:net'
import { type PostgresServer, startStoppable } from './postgres-server.ts'
import { messages } from './transaction-pooler.ts'

export interface NarrowPostgres extends PostgresServer {
  /** How often it has refused something, by what that was. */
  readonly refused: ReadonlyMap<string, number>
}

const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  'advisory locks': /\bpg_(?:try_)?advisory_/i,
  'unlogged tables': /\bUNLOGGED\b/,
  'collations of columns': /\bCOLLATE\b/,
  'levels of isolation': /\bISOLATION LEVEL (?!SERIALIZABLE\b)/i,
}

const WRITE = /\b(?:INSERT INTO|DELETE FROM|(?<!\bFOR |\bDO |\bKEY )UPDATE)\s+(\w+)/gi

/** What of this text such servers refuse; undefined: nothing. */
export function refusalOf(sql: string): string | undefined {
  const plain = sql.replace(/'(?:[^']|'')*'/g, "''")
  const found = Object.entries(FORBIDDEN).find(([, pattern]) => pattern.test(plain))?.[0]
  if (found) return found
  const written = plain.includes(';') ? [] : [...plain.matchAll(WRITE)].map(([, table]) => table!.toLowerCase())
  return new Set(written).size < written.length ? 'two writes of a table in one statement' : undefined
}

/** Any server says of this one that it is not supported, before it looks for values. */
const NOT_SUPPORTED = 'SELECT DISTINCT 1 FOR UPDATE'

function renamed(type: string, name: string, text: string, after: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(`${name}${text}\0`), after])
  const head = Buffer.alloc(5, type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

export async function startNarrowPostgres(): Promise<NarrowPostgres> {
  const server = await startStoppable({ default_transaction_isolation: 'serializable' })
  const { hostname, port } = new URL(server.url)
  const refused = new Map<string, number>()
  const sockets = new Set<net.Socket>()

  const passed = (type: string, message: Buffer): Buffer => {
    if (type !== 'Q' && type !== 'P') return message
    const from = type === 'Q' ? 5 : message.indexOf(0, 5) + 1
    const to = message.indexOf(0, from)
    const found = refusalOf(message.toString('utf8', from, to))
    if (found === undefined) return message
    refused.set(found, (refused.get(found) ?? 0) + 1)
    return renamed(type, message.toString('utf8', 5, from), NOT_SUPPORTED, message.subarray(to + 1))
  }
  const gate = net.createServer(client => {
    const far = net.connect(Number(port), hostname)
    for (const [one, other] of [
      [client, far],
      [far, client],
    ] as const) {
      sockets.add(one.setNoDelay())
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
    }
    const read = messages((type, message) => far.write(passed(type, message)), true)
    client.on('data', piece => {
      far.cork()
      read(piece)
      far.uncork()
    })
    far.on('data', piece => client.write(piece))
  })
  await once(gate.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(server.url)
  url.port = String((gate.address() as net.AddressInfo).port)
  return {
    url: url.href,
    refused,
    async stop() {
      for (const socket of sockets) socket.destroy()
      gate.close()
      await server.stop()
    },
  }
}
