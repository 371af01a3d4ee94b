/** Where a command finds its marketplace and its key, and what it says when it is refused. */
import { type Client, clientOn, MarketplaceError, UnreachableError } from '../client/client.ts'
import { Transport } from '../client/transport.ts'
import { environment } from '../config.ts'
import { type AnswerFlags, atDesk, type Desk } from './desk.ts'
import { codeForStatus, exitCodes, Fault } from './exit-codes.ts'
import { plain } from './ui.ts'
import { type Found, locate, type Person } from './whereabouts.ts'

export interface ConnectionFlags extends AnswerFlags {
  url?: string
  key?: string
  as?: string
}

export interface Connection extends Desk {
  readonly client: Client
  readonly transport: Transport
  readonly found: Found
}

/** Runs `work` with a client of the marketplace that the flags, the environment or a dev in this folder name. */
export const connected = (flags: ConnectionFlags, person: Person, work: (connection: Connection) => Promise<number>) =>
  atDesk(flags, async desk => {
    const found = locate(flags, person, environment())
    introduce(desk, found)
    const transport = new Transport({ baseUrl: found.url, apiKey: found.key })
    try {
      return await work({ ...desk, found, transport, client: clientOn(transport) })
    } catch (error) {
      throw explained(error, found)
    }
  })

function introduce({ talk, json }: Desk, { url, urlFrom, key, keyFrom, isLocal }: Found): void {
  if (key && url.startsWith('http://') && !isLocal) {
    talk.line(talk.colour.yellow(`${url} is not https: everybody on the way can read the key.`))
  }
  if (process.stderr.isTTY && !json) {
    talk.line(talk.colour.dim(`Using ${plain(url)} (${urlFrom}) with ${key ? keyFrom : 'no key'}`))
  }
}

/** What the marketplace or the network said, with what helps. */
function explained(error: unknown, found: Found): unknown {
  if (error instanceof UnreachableError) {
    return new Fault(error.message, { code: exitCodes.network, hint: unreachableHint(found) })
  }
  if (!(error instanceof MarketplaceError)) return error
  const { status, errors, message } = error
  return new Fault(message, { code: codeForStatus(status), status, errors, hint: refusalHint(status, found) })
}

const unreachableHint = ({ urlFrom, isDev }: Found) =>
  isDev
    ? 'The dev of this folder has ended: start `marketplace dev` again, or name another marketplace with --url.'
    : `The address comes from ${urlFrom}. Is the marketplace running there?`

/** Why an answer of this status came, seen from here; undefined where its own words say it all. */
export function refusalHint(status: number, { key, keyFrom, isDev }: Found): string | undefined {
  const other = isDev ? '--as buyer, --as builder, --as admin, or --key' : '--key or MARKETPLACE_KEY'
  if (status === 401) return key ? `The marketplace does not know ${keyFrom}.` : `Give a key: ${other}.`
  if (status === 403) return `The request went with ${key ? keyFrom : 'no key'}. Another one: ${other}.`
  return undefined
}
