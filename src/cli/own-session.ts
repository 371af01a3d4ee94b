/** The session of one command: the one that `login` keeps, or one of a dev's people that ends with the command. Source: A-51. */
import { answerIn, type Transport } from '../client/transport.ts'
import { codeForStatus, Fault } from './exit-codes.ts'
import { proveInstance } from './instance-check.ts'
import type { Found } from './target.ts'

export interface OwnSession {
  /** Resolves to false if there is no session and nobody who could sign in. */
  open(): Promise<boolean>
  /** Leaves no session behind that `open` has made. */
  end(): Promise<void>
}

export function sessionFor(transport: Transport, found: Found): OwnSession {
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
      // It would end by itself; nobody waits to hear that it has.
      if (isOwn) await transport.send('POST', '/api/auth/logout', { by: 'session' }).catch(() => {})
    },
  }
}

/** The transport keeps the cookie. Throws a Fault with the marketplace's own words. */
async function signIn(transport: Transport, { email, password }: { email: string; password: string }): Promise<void> {
  const reply = await transport.send('POST', '/api/auth/login', { body: { email, password }, by: 'nobody' })
  const { success, status, error = '' } = await answerIn(reply)
  if (success) return
  const hint = 'The password may have been changed since `marketplace dev` made it.'
  throw new Fault(`${email} could not sign in: ${error}`, { code: codeForStatus(status), status, hint })
}
