/** Credentials go to the marketplace that made them, and to no other that answers at its address. Source: A-198. */
import type { Transport } from '../client/transport.ts'
import { exitCodes, Fault } from './exit-codes.ts'
import type { Found } from './target.ts'

/** Which database answers; null if it does not say. Sends no credential. */
export async function instanceAt(transport: Transport): Promise<string | null> {
  const reply = await transport.send('GET', '/healthz', { by: 'nobody' })
  await reply.arrayBuffer()
  return reply.headers.get('x-service-instance')
}

/** Throws a Fault, before anything is sent, if the credentials are another marketplace's. */
export async function proveInstance(transport: Transport, { url, madeFor }: Found): Promise<void> {
  if (madeFor === undefined || (await instanceAt(transport)) === madeFor.instance) return
  const [whose, help] =
    madeFor.by === 'dev'
      ? [
          'not the dev of this folder, which has ended',
          'Start `marketplace dev` here again, with another --port, or name the marketplace and a key: --url and --key.',
        ]
      : ['not the one that you signed in to', `Sign in to this one: marketplace login --url ${url}`]
  throw new Fault(`The marketplace at ${url} is ${whose}, so nothing was sent`, { code: exitCodes.auth, hint: help })
}
