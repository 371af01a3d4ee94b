/** `marketplace login`, `logout` and `whoami`: a session for what takes no key. Source: A-51. */
import type { UserRecord } from '../../api/records.ts'
import { UnreachableError } from '../../client/client.ts'
import { type Answer, Transport } from '../../client/transport.ts'
import { UsageError } from '../../config.ts'
import { type ConnectionFlags, connected, introduce, unreachable } from '../connection.ts'
import { codeForStatus, exitCodes, Fault } from '../exit-codes.ts'
import { instanceAt } from '../instance-check.ts'
import { passwordFromStdin } from '../json-input.ts'
import { type AnswerFlags, atDesk, canAsk, type Desk } from '../output.ts'
import { askHidden, askLine } from '../prompts.ts'
import { forgetSession, type SavedSession, savedSession, saveSession } from '../session-file.ts'
import { checkMayGo, locatePlace, type Place } from '../target.ts'
import { plain } from '../ui.ts'

export interface LoginFlags extends AnswerFlags {
  url?: string
  email?: string
  passwordStdin?: boolean
  totp?: string
  recoveryCode?: string
}

/** What signing in takes; one of the codes where the account has a second factor. */
interface LoginBody {
  email: string
  password: string
  totp?: string | undefined
  recoveryCode?: string | undefined
}

export const login = (flags: LoginFlags) =>
  atPlace(flags, async (desk, place) => {
    checkMayGo('a password', 'user', place)
    const transport = new Transport({ baseUrl: place.url })
    const instance = await instanceAt(transport)
    const body = await loginBody(flags, desk)
    const answer = await signIn(transport, body, desk)
    if (!answer.success) throw refused(answer, place)
    const { user } = answer.data as { user: UserRecord }
    const before = savedSession(place.url)
    saveSession({ url: place.url, email: user.email, cookie: transport.credentials.session ?? '', instance })
    if (before && before.instance === instance) await end(before)
    return desk.answer({ url: place.url, user }, () => {
      const role = user.isAdmin ? ', an administrator' : ''
      desk.out.line(`Signed in at ${plain(place.url)} as ${plain(user.email)}${role}.`)
      desk.talk.line(
        'Commands for this address use the session where no key is given. It ends with: marketplace logout',
      )
    })
  })

export const logout = (flags: { url?: string } & AnswerFlags) =>
  atPlace(flags, async (desk, place) => {
    const session = savedSession(place.url)
    if (!session) throw new Fault(`Nobody is signed in at ${place.url}`, { code: exitCodes.failed })
    forgetSession(place.url)
    const ended = (await instanceAt(new Transport({ baseUrl: place.url }))) === session.instance
    // The cookie of one marketplace is not shown to another.
    if (ended) await end(session)
    return desk.answer({ url: place.url, email: session.email, ended }, () =>
      desk.out.line(`${plain(session.email)} is signed out of ${plain(place.url)}.`),
    )
  })

export const whoami = (flags: ConnectionFlags) =>
  connected(flags, 'builder', async ({ client, found, out, answer }) => {
    if (!found.key && !found.session) {
      const hint = `Sign in: marketplace login --url ${found.url}. Or give a key: --key, MARKETPLACE_KEY.`
      throw new Fault(`Nobody is signed in at ${found.url}`, { code: exitCodes.auth, hint })
    }
    const { user } = await client.me()
    return answer({ url: found.url, by: found.key ? 'key' : 'session', user }, () => {
      const roles = [user.isBuilder && 'builder', user.isAdmin && 'administrator'].filter(Boolean).join(', ')
      out.line(`${plain(user.email)} (${plain(user.name)}${roles && `, ${roles}`}) at ${found.url}, by ${found.from}`)
    })
  })

/** Needs an address and nothing else. */
const atPlace = (flags: { url?: string } & AnswerFlags, work: (desk: Desk, place: Place) => Promise<number>) =>
  atDesk(flags, async desk => {
    const place = locatePlace(flags.url)
    introduce(desk, place, 'password', 'your password')
    try {
      return await work(desk, place)
    } catch (error) {
      throw error instanceof UnreachableError ? unreachable(error, place) : error
    }
  })

const HOW = 'Give --email, and the password on stdin with --password-stdin; on a terminal login asks for both.'

async function loginBody({ email, passwordStdin, totp, recoveryCode }: LoginFlags, { json }: Desk): Promise<LoginBody> {
  const mayAsk = canAsk() && !json
  if (!mayAsk && (!email || !passwordStdin)) throw new UsageError(`login can't ask here. ${HOW}`)
  const who = email ?? (await askLine('Email:'))
  const password = passwordStdin ? await passwordFromStdin() : await askHidden('Password:')
  return { email: who, password, totp, recoveryCode }
}

/** Asks for the code of an account with a second factor, where somebody is there to be asked. */
async function signIn(transport: Transport, body: LoginBody, { json }: Desk): Promise<Answer> {
  const send = (body: LoginBody) => transport.ask('POST', '/api/auth/login', { body, by: 'nobody' })
  const answer = await send(body)
  const wanted = answer.errors?.totp !== undefined && body.totp === undefined && body.recoveryCode === undefined
  if (!wanted || json || !canAsk()) return answer
  const code = (await askLine('Code of your authenticator, or a recovery code:')).trim()
  return send({ ...body, ...(/^[\d ]+$/.test(code) ? { totp: code } : { recoveryCode: code }) })
}

function refused({ status, error = '', errors }: Answer, { url }: Place): Fault {
  const code = errors?.totp ? exitCodes.auth : codeForStatus(status)
  const hint = errors?.totp
    ? 'Add the code of your authenticator, --totp 123456, or one of your --recovery-code words.'
    : undefined
  return new Fault(status === 401 && !hint ? `${error} (at ${url})` : error, { code, status, errors, hint })
}

/** Whether the marketplace has heard of it makes no difference here. */
async function end({ url, cookie }: SavedSession): Promise<void> {
  const transport = new Transport({ baseUrl: url, session: cookie })
  await transport.send('POST', '/api/auth/logout', { by: 'session' }).catch(() => {})
}
