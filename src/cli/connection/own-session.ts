/**
 * The session of a command: the one that `login` has stored, or one with an account of `dev`, which ends with the command.
 * Source: A-51.
 */
import { answerIn, type Transport } from '../../client/transport.ts'
import { codeForStatus, Fault } from '../exit-codes.ts'
import { proveInstance } from './instance-check.ts'
import type { Target } from './target.ts'

export interface OwnSession {
  /** Opens the session. Resolves to false if there is none and no account to sign in with. */
  open(): Promise<boolean>
  /** Ends a session that `open` has begun. */
  end(): Promise<void>
}

export function sessionFor(transport: Transport, found: Target): OwnSession {
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
  const hint = 'The password may have been changed since dev made it.'
  throw new Fault(`${email} could not sign in: ${error}`, { code: codeForStatus(status), status, hint })
}
