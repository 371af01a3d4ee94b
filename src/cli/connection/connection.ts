/** Connects a command to its marketplace, and explains refusals. */

import { COMMAND_LINE } from '../../api/command-line.ts'
import { refuse } from '../../api/failures.ts'
import { answerIn, Transport, UnreachableError } from '../../client/transport.ts'
import { type Client, clientOn, MarketplaceError } from '../../client/typed-client.ts'
import { version } from '../../settings/config.ts'
import { codeForStatus, exitCodes, Fault } from '../exit-codes.ts'
import { type AnswerFlags, type CommandOutput, withOutput } from '../output/output.ts'
import { plain } from '../output/ui.ts'
import { proveInstance } from './instance-check.ts'
import { flagsToReach, nextSteps } from './next-steps.ts'
import { forgetSession, type SavedSession } from './session-file.ts'
import { type Address, locate, type Person, type Target } from './target.ts'

const userAgent = COMMAND_LINE + version

export interface ConnectionFlags extends AnswerFlags {
  url?: string
  key?: string
  as?: string
  profile?: string
}

export interface Connection extends CommandOutput {
  readonly client: Client
  readonly transport: Transport
  readonly found: Target
  /** Opens a session for endpoints that take no key. Resolves to false if nobody has signed in. */
  openSession(): Promise<boolean>
}

/** Runs `work` with a client of the marketplace that the flags, the environment or a `dev` in this folder name. */
export const connected = (flags: ConnectionFlags, person: Person, work: (connection: Connection) => Promise<number>) =>
  withOutput(flags, async output => {
    const found = locate(flags, person)
    printTarget(output, found, found.key ? 'key' : found.session && 'session', found.from)
    // If a key is given, the session is not used until it is needed.
    const session = found.key ? undefined : found.session?.cookie
    const transport = new Transport({ baseUrl: found.url, apiKey: found.key, session, userAgent })
    const own = sessionFor(transport, found)
    try {
      await proveInstance(transport, found)
      if (found.otherVersion && !output.json) output.notes.line(output.notes.colour.yellow(found.otherVersion))
      return await work({ ...output, found, transport, client: clientOn(transport), openSession: own.open })
    } catch (error) {
      throw await withHint(error, found, transport)
    } finally {
      await own.end()
    }
  })

/** Prints which marketplace the command uses, and warns if others can read what is sent. */
export function printTarget(
  output: CommandOutput,
  { url, urlFrom, urlBy, isLocal }: Address,
  secret: string | undefined,
  from: string,
) {
  const { notes, json } = output
  if (secret && url.startsWith('http://') && !isLocal) {
    notes.line(notes.colour.yellow(`${url} is not https: everybody on the way can read the ${secret}.`))
  }
  // Printed also without a terminal if a file of the folder names the address, so that the owner of a script sees it.
  const isFromFile = urlBy !== 'user' && !isLocal
  if ((process.stderr.isTTY || isFromFile) && !json)
    notes.line(notes.colour.dim(`Using ${plain(url)} (${urlFrom}) with ${plain(from)}`))
}

/** Turns an error of the marketplace or the network into a Fault with a hint. */
async function withHint(error: unknown, found: Target, transport: Transport): Promise<unknown> {
  if (error instanceof UnreachableError) return unreachable(error, found)
  if (!(error instanceof MarketplaceError)) return error
  const { status, errors, message } = error
  const isForBuilders = message === refuse('builder_only').message
  const hint = isForBuilders
    ? `Become one: ${nextSteps.becomeBuilder(flagsToReach(found, 'builder'))}`
    : await refusalHint(status, found, transport)
  return new Fault(message, { code: codeForStatus(status), status, errors, hint })
}

export const unreachable = ({ message }: UnreachableError, { urlFrom, isDev }: Address) =>
  new Fault(message, {
    code: exitCodes.network,
    hint: isDev
      ? `The dev of this folder has ended: start \`${nextSteps.startDev()}\` again, or name another marketplace with --url.`
      : `The address comes from ${urlFrom}. Is the marketplace running there?`,
  })

/** Returns a hint for a refusal with this status; undefined if its own message is enough. */
export async function refusalHint(status: number, found: Target, transport: Transport): Promise<string | undefined> {
  const { key, session, from, isDev, url } = found
  const other = isDev
    ? '--as buyer, --as builder, --as admin, or --key'
    : `--key, MARKETPLACE_KEY, or ${nextSteps.signIn(url)}`
  if (status === 401 && session && (await hasEnded(transport))) {
    forgetIfPossible(session)
    return `The session of ${session.email} has ended. Sign in again: ${nextSteps.signIn(url, session.email, session.profile)}`
  }
  if (status === 401) return key ? `The marketplace does not know ${from}.` : `Give a key: ${other}.`
  if (status === 403) return `The request went with ${from}. Another one: ${other}.`
  return undefined
}

function forgetIfPossible(session: SavedSession): void {
  try {
    forgetSession(session)
  } catch {} // what it says next does not depend on it
}

/** Whether the session has ended. Endpoints that take only keys also respond to a valid session with 401. */
async function hasEnded(transport: Transport): Promise<boolean> {
  if (!transport.credentials.session) return true // the response has removed the cookie
  return (await transport.ask('GET', '/api/auth/me', { by: 'session' })).status === 401
}

/**
 * The session of a command: the one that `login` has stored, or one with an account of `dev`, which ends with the command.
 * Source: A-51.
 */
interface OwnSession {
  /** Opens the session. Resolves to false if there is none and no account to sign in with. */
  open(): Promise<boolean>
  /** Ends a session that `open` has begun. */
  end(): Promise<void>
}

function sessionFor(transport: Transport, found: Target): OwnSession {
  const { credentials } = transport
  const { account, session } = found
  let isOwn = false
  return {
    async open() {
      if (credentials.session) return true
      if (account) {
        await signIn(transport, account)
        isOwn = true
        return true
      }
      if (!session) return false
      await proveInstance(transport, { ...found, madeFor: { by: 'login', instance: session.instance } })
      credentials.session = session.cookie
      return true
    },
    async end() {
      // Errors don't matter, because the session would expire by itself.
      if (isOwn) await transport.send('POST', '/api/auth/logout', { by: 'session' }).catch(() => {})
    },
  }
}

/** Signs in; the transport keeps the cookie. Throws a Fault with the marketplace's message. */
async function signIn(transport: Transport, { email, password }: { email: string; password: string }): Promise<void> {
  const reply = await transport.send('POST', '/api/auth/login', { body: { email, password }, by: 'nobody' })
  const { success, status, error = '' } = await answerIn(reply)
  if (success) return
  const hint = status === 401 ? 'The password may have been changed since dev made it.' : undefined
  throw new Fault(`${email} could not sign in: ${error}`, { code: codeForStatus(status), status, hint })
}

const NO_SUCH_PATH = refuse('no_such_path', '').message

/** A deployment has nothing at the paths of such commands. `why`: what a deployment is told, behind its URL. */
export const onSimulator = (
  flags: ConnectionFlags,
  why: string,
  work: (connection: Connection) => Promise<number>,
): Promise<number> =>
  connected(flags, 'admin', async connection => {
    try {
      return await work(connection)
    } catch (error) {
      if (!(error instanceof MarketplaceError && error.message.startsWith(NO_SUCH_PATH))) throw error
      throw new Fault(`${plain(connection.found.url)} ${why}.`, {
        code: exitCodes.failed,
        status: 404,
        hint: `Start a simulator: ${nextSteps.startDev()}`,
      })
    }
  })
