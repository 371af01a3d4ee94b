/** `marketplace login`, `logout` and `whoami`: a session for endpoints that take no key. Source: A-51. */
import type { UserRecord } from '../../api/records.ts'
import { type Answer, Transport, UnreachableError } from '../../client/transport.ts'
import { UsageError } from '../../settings/config.ts'
import { passwordFromStdin } from '../command-line/json-input.ts'
import { type ConnectionFlags, connected, printTarget, unreachable } from '../connection/connection.ts'
import { instanceAt } from '../connection/instance-check.ts'
import { nextSteps } from '../connection/next-steps.ts'
import {
  forgetSession,
  proveSavable,
  type SavedSession,
  savedSession,
  savedSessions,
  saveSession,
  sessionOfProfile,
} from '../connection/session-file.ts'
import { type Address, locateAddress, refuseUntrustedAddress } from '../connection/target.ts'
import { codeForStatus, exitCodes, Fault } from '../exit-codes.ts'
import { noneOf } from '../output/empty-list.ts'
import { type AnswerFlags, type CommandOutput, canAsk, withOutput } from '../output/output.ts'
import { askHidden, askLine } from '../output/prompts.ts'
import { plain } from '../output/ui.ts'

interface AddressFlags extends AnswerFlags {
  url?: string
  profile?: string
}

export interface LoginFlags extends AddressFlags {
  email?: string
  passwordStdin?: boolean
  totp?: string
  recoveryCode?: string
}

/** The body of a sign-in. An account with a second factor needs one of the codes. */
interface LoginBody {
  email: string
  password: string
  totp?: string | undefined
  recoveryCode?: string | undefined
}

export const login = (flags: LoginFlags) =>
  atAddress({ ...flags, isNew: true }, async (output, address) => {
    refuseUntrustedAddress('a password', 'user', address)
    proveSavable()
    const transport = new Transport({ baseUrl: address.url })
    const instance = await instanceAt(transport)
    const body = await loginBody('login', flags, output)
    const answer = await signIn(transport, body, output)
    if (!answer.success) throw refused(answer, address)
    const { user } = answer.data as { user: UserRecord }
    const before = stored(address)
    await keep({ ...placeOf(address), email: user.email, cookie: transport.credentials.session ?? '', instance })
    if (before && before.instance === instance) await end(before)
    return output.answer({ url: address.url, user }, () => {
      const role = user.isAdmin ? ', an administrator' : ''
      output.out.line(`Signed in at ${plain(address.url)} as ${plain(user.email)}${role}.`)
      output.notes.line(
        `Commands for this address use the session where no key is given. It ends with: ${nextSteps.signOut(address.url)}`,
      )
    })
  })

export interface RegisterFlags extends LoginFlags {
  name?: string
  builder?: boolean
}

/** Makes an account and keeps its first session. */
export const register = (flags: RegisterFlags) =>
  atAddress({ ...flags, isNew: true }, async (output, address) => {
    refuseUntrustedAddress('a password', 'user', address)
    if (!flags.name) throw new UsageError('register needs --name, which others read.')
    proveSavable()
    const transport = new Transport({ baseUrl: address.url })
    const instance = await instanceAt(transport)
    const { email, password } = await loginBody('register', flags, output)
    const body = { email, password, name: flags.name, isBuilder: flags.builder === true }
    const answer = await transport.ask('POST', '/api/auth/register', { body, by: 'nobody' })
    if (!answer.success) throw refused(answer, address)
    const { user } = answer.data as { user: UserRecord }
    await keep({ ...placeOf(address), email: user.email, cookie: transport.credentials.session ?? '', instance })
    return output.answer({ url: address.url, user }, () =>
      output.out.line(`${plain(user.email)} has an account at ${plain(address.url)}, and is signed in.`),
    )
  })

export const logout = (flags: AddressFlags) =>
  atAddress(flags, async (output, address) => {
    const session = stored(address)
    if (!session) throw new Fault(`Nobody is signed in at ${address.url}`, { code: exitCodes.failed })
    forgetSession(session)
    const there = await instanceAt(new Transport({ baseUrl: address.url })).catch(away)
    const ended = there === session.instance
    // Never sends the cookie of one marketplace to another.
    if (ended) await end(session)
    return output.answer({ url: address.url, email: session.email, ended }, () =>
      output.out.line(
        `${plain(session.email)} is signed out of ${plain(address.url)}${ended ? '' : ' here; the marketplace was not told'}.`,
      ),
    )
  })

/** A session is forgotten here all the same. */
function away(error: unknown): null {
  if (error instanceof UnreachableError) return null
  throw error
}

export const whoami = (flags: ConnectionFlags) =>
  connected(flags, 'builder', async ({ client, found, out, answer }) => {
    if (!found.key && !found.session) {
      const hint = `Sign in: ${nextSteps.signIn(found.url)}. Or give a key: --key, MARKETPLACE_KEY.`
      throw new Fault(`Nobody is signed in at ${found.url}`, { code: exitCodes.auth, hint })
    }
    const { user } = await client.me()
    return answer({ url: found.url, by: found.key ? 'key' : 'session', user }, () => {
      const roles = [user.isBuilder && 'builder', user.isAdmin && 'administrator'].filter(Boolean).join(', ')
      out.line(`${plain(user.email)} (${plain(user.name)}${roles && `, ${roles}`}) at ${found.url}, by ${found.from}`)
    })
  })

/** Which sessions are stored here. Asks no marketplace, so one may have ended. */
export const profiles = (flags: AnswerFlags) =>
  withOutput(flags, async ({ out, notes, answer }) => {
    const items = savedSessions().map(({ profile, url, email }) => ({ profile: profile ?? null, url, email }))
    return answer({ items }, () => {
      if (items.length === 0)
        return notes.line(noneOf({ things: 'sessions', first: `How to sign in: ${nextSteps.helpOf('login')}` }))
      const rows = items.map(({ profile, url, email }) => [profile ?? '-', plain(url), plain(email)])
      out.list(['PROFILE', 'ADDRESS', 'EMAIL'], rows)
    })
  })

const placeOf = ({ url, profile }: Address) => ({ url, profile })

const stored = ({ url, profile }: Address) => (profile === undefined ? savedSession(url) : sessionOfProfile(profile))

/** Needs only an address. `isNew`: a profile that nobody has signed in with is for the address that commands use here. */
const atAddress = (
  flags: AddressFlags & { isNew?: boolean },
  work: (output: CommandOutput, address: Address) => Promise<number>,
) =>
  withOutput(flags, async output => {
    const address = locateAddress(flags)
    printTarget(output, address, 'password', 'your password')
    try {
      return await work(output, address)
    } catch (error) {
      throw error instanceof UnreachableError ? unreachable(error, address) : error
    }
  })

const HOW = 'Give --email, and the password on stdin with --password-stdin; on a terminal it asks for both.'

async function loginBody(
  command: string,
  { email, passwordStdin, totp, recoveryCode }: LoginFlags,
  { json }: CommandOutput,
): Promise<LoginBody> {
  const mayAsk = canAsk() && !json
  if (!mayAsk && (!email || !passwordStdin)) throw new UsageError(`${command} can't ask here. ${HOW}`)
  const who = email ?? (await askLine('Email:'))
  const password = passwordStdin ? await passwordFromStdin() : await askHidden('Password:')
  return { email: who, password, totp, recoveryCode }
}

/** Signs in. If the account has a second factor, asks for its code on a terminal. */
async function signIn(transport: Transport, body: LoginBody, { json }: CommandOutput): Promise<Answer> {
  const send = (body: LoginBody) => transport.ask('POST', '/api/auth/login', { body, by: 'nobody' })
  const answer = await send(body)
  const wanted = answer.errors?.totp !== undefined && body.totp === undefined && body.recoveryCode === undefined
  if (!wanted || json || !canAsk()) return answer
  const code = (await askLine('Code of your authenticator, or a recovery code:')).trim()
  return send({ ...body, ...(/^[\d ]+$/.test(code) ? { totp: code } : { recoveryCode: code }) })
}

function refused({ status, error = '', errors }: Answer, { url }: Address): Fault {
  const code = errors?.totp ? exitCodes.auth : codeForStatus(status)
  const hint = errors?.totp
    ? 'Add the code of your authenticator, --totp 123456, or one of your --recovery-code words.'
    : undefined
  return new Fault(status === 401 && !hint ? `${error} (at ${url})` : error, { code, status, errors, hint })
}

/** A session that can't be kept is ended, so that none is left that nobody has. */
async function keep(session: SavedSession): Promise<void> {
  try {
    saveSession(session)
  } catch (error) {
    await end(session)
    throw error
  }
}

/** Ends the session on the marketplace too. Errors do not matter, because the local session is gone already. */
async function end({ url, cookie }: SavedSession): Promise<void> {
  const transport = new Transport({ baseUrl: url, session: cookie })
  await transport.send('POST', '/api/auth/logout', { by: 'session' }).catch(() => {})
}
