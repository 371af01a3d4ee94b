/** Makes sure that credentials go only to the marketplace that made them, and to no other at its address. Source: A-198. */
import type { Transport } from '../../client/transport.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { nextSteps } from './next-steps.ts'
import type { Target } from './target.ts'

/** Returns the id of the database behind an address; null if there is none. Sends no credential. */
export async function instanceAt(transport: Transport, signal?: AbortSignal): Promise<string | null> {
  const reply = await transport.send('GET', '/healthz', { by: 'nobody', signal })
  await reply.arrayBuffer()
  return reply.headers.get('x-service-instance')
}

/** Throws a Fault before any credential is sent if the credentials belong to another marketplace. */
export async function proveInstance(transport: Transport, { url, madeFor }: Target): Promise<void> {
  if (madeFor === undefined || (await instanceAt(transport)) === madeFor.instance) return
  const [whose, help] =
    madeFor.by === 'dev'
      ? [
          'not the dev of this folder, which has ended',
          `Start \`${nextSteps.startDev()}\` here again, with another --port, or name the marketplace and a key: --url and --key.`,
        ]
      : ['not the one that you signed in to', `Sign in to this one: ${nextSteps.signIn(url)}`]
  throw new Fault(`The marketplace at ${url} is ${whose}, so nothing was sent`, { code: exitCodes.auth, hint: help })
}
