/** Where a command finds its marketplace and its credentials, and what it says when it is refused. */
import { type Client, clientOn, MarketplaceError, UnreachableError } from '../client/client.ts'
import { Transport } from '../client/transport.ts'
import { codeForStatus, exitCodes, Fault } from './exit-codes.ts'
import { proveInstance } from './instance-check.ts'
import { type AnswerFlags, atDesk, type Desk } from './output.ts'
import { sessionFor } from './own-session.ts'
import { forgetSession } from './session-file.ts'
import { type Found, locate, type Person, type Place } from './target.ts'
import { plain } from './ui.ts'

export interface ConnectionFlags extends AnswerFlags {
  url?: string
  key?: string
  as?: string
}

export interface Connection extends Desk {
  readonly client: Client
  readonly transport: Transport
  readonly found: Found
  /** For what takes no key: false if nobody has signed in. */
  openSession(): Promise<boolean>
}

/** Runs `work` with a client of the marketplace that the flags, the environment or a dev in this folder name. */
export const connected = (flags: ConnectionFlags, person: Person, work: (connection: Connection) => Promise<number>) =>
  atDesk(flags, async desk => {
    const found = locate(flags, person)
    introduce(desk, found, found.key ? 'key' : found.session && 'session', found.from)
    // Beside a key that was named the session waits until it is needed.
    const session = found.key ? undefined : found.session?.cookie
    const transport = new Transport({ baseUrl: found.url, apiKey: found.key, session })
    const own = sessionFor(transport, found)
    try {
      await proveInstance(transport, found)
      return await work({ ...desk, found, transport, client: clientOn(transport), openSession: own.open })
    } catch (error) {
      throw await explained(error, found, transport)
    } finally {
      await own.end()
    }
  })

/** Says where the command goes, and warns where others can read what is sent. */
export function introduce(
  desk: Desk,
  { url, urlFrom, urlBy, isLocal }: Place,
  secret: string | undefined,
  from: string,
) {
  const { talk, json } = desk
  if (secret && url.startsWith('http://') && !isLocal) {
    talk.line(talk.colour.yellow(`${url} is not https: everybody on the way can read the ${secret}.`))
  }
  // A script's owner should see as well where a file of the folder sends it.
  const isFromFile = urlBy !== 'user' && !isLocal
  if ((process.stderr.isTTY || isFromFile) && !json)
    talk.line(talk.colour.dim(`Using ${plain(url)} (${urlFrom}) with ${plain(from)}`))
}

/** What the marketplace or the network said, with what helps. */
async function explained(error: unknown, found: Found, transport: Transport): Promise<unknown> {
  if (error instanceof UnreachableError) return unreachable(error, found)
  if (!(error instanceof MarketplaceError)) return error
  const { status, errors, message } = error
  const hint = await refusalHint(status, found, transport)
  return new Fault(message, { code: codeForStatus(status), status, errors, hint })
}

export const unreachable = ({ message }: UnreachableError, { urlFrom, isDev }: Place) =>
  new Fault(message, {
    code: exitCodes.network,
    hint: isDev
      ? 'The dev of this folder has ended: start `marketplace dev` again, or name another marketplace with --url.'
      : `The address comes from ${urlFrom}. Is the marketplace running there?`,
  })

/** Why an answer of this status came, seen from here; undefined where its own words say it all. */
export async function refusalHint(status: number, found: Found, transport: Transport): Promise<string | undefined> {
  const { key, session, from, isDev, url } = found
  const signIn = `marketplace login --url ${url}`
  const other = isDev ? '--as buyer, --as builder, --as admin, or --key' : `--key, MARKETPLACE_KEY, or ${signIn}`
  if (status === 401 && session && (await hasEnded(transport))) {
    forgetSession(url)
    return `The session of ${session.email} has ended. Sign in again: ${signIn} --email ${session.email}`
  }
  if (status === 401) return key ? `The marketplace does not know ${from}.` : `Give a key: ${other}.`
  if (status === 403) return `The request went with ${from}. Another one: ${other}.`
  return undefined
}

/** Some endpoints take keys alone, and answer a good session with 401 as well. */
async function hasEnded(transport: Transport): Promise<boolean> {
  if (!transport.credentials.session) return true // the answer has taken the cookie away
  return (await transport.ask('GET', '/api/auth/me', { by: 'session' })).status === 401
}
