/** `marketplace call`: sends any request, with the credentials that are found. */
import type { By, Method } from '../../client/transport.ts'
import { UsageError } from '../../config.ts'
import { type Connection, type ConnectionFlags, connected, refusalHint } from '../connection.ts'
import { endpointAt } from '../endpoint-at.ts'
import { codeForStatus } from '../exit-codes.ts'
import { jsonGiven } from '../json-input.ts'
import { nextSteps } from '../next-steps.ts'

export interface CallFlags extends ConnectionFlags {
  data?: string
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE']

/** Prints the body of the response: with --json as it came, else formatted. The status decides the exit code. */
export async function call(verb: string, target: string, flags: CallFlags): Promise<number> {
  const method = methods.find(name => name === verb.toUpperCase())
  if (!method) throw new UsageError(`METHOD is ${methods.join(', ')}, not ${verb}. Example: ${nextSteps.call()}`)
  if (/^[a-z]+:/i.test(target)) {
    throw new UsageError(`PATH is what follows the address, like /api/agents. The address goes into --url.`)
  }
  const path = target.startsWith('/') ? target : `/${target}`
  return connected(flags, 'builder', async connection => {
    const { transport, notes, found, json } = connection
    const body = flags.data === undefined ? undefined : await jsonGiven('--data', flags.data)
    const reply = await transport.send(method, path, { body, by: await credentialFor(connection, method, path) })
    const { status } = reply
    if (!json && process.stderr.isTTY) notes.line(notes.colour.dim(`${status} ${reply.statusText}`))
    await print(reply, json)
    const hint = await refusalHint(status, found, transport)
    if (hint) notes.line(hint)
    return codeForStatus(status)
  })
}

/** Uses the session if the endpoint takes no key, or if there is no key. */
async function credentialFor({ found, openSession }: Connection, method: Method, path: string): Promise<By> {
  const wantsSession = endpointAt(method, path)?.auth === 'session' || !found.key
  return wantsSession && (await openSession()) ? 'session' : 'key'
}

async function print(reply: Response, json: boolean): Promise<void> {
  const bytes = Buffer.from(await reply.arrayBuffer())
  if (!/\bjson\b/.test(reply.headers.get('content-type') ?? '')) return void process.stdout.write(bytes)
  const text = bytes.toString('utf8')
  process.stdout.write(`${json ? text : laidOut(text)}\n`)
}

function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
