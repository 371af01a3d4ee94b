/** `marketplace call`: sends any request, with the credentials that are found. */
import type { By, Method, Sending } from '../../client/transport.ts'
import { UsageError } from '../../settings/config.ts'
import { jsonGiven } from '../command-line/json-input.ts'
import { type Connection, type ConnectionFlags, connected, refusalHint } from '../connection/connection.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { formOf, headersOf, isFile, objectOf, typedFields } from '../endpoint/call-fields.ts'
import { endpointAt } from '../endpoint/endpoint-at.ts'
import { jqProgram } from '../endpoint/jq.ts'
import { allPages } from '../endpoint/pages.ts'
import { codeForStatus } from '../exit-codes.ts'

export interface CallFlags extends ConnectionFlags {
  data?: string
  field?: string[]
  header?: string[]
  include?: boolean
  paginate?: boolean
  jq?: string
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE']

/** Prints the body of the response: with --json as it came, else formatted. The status decides the exit code. */
export async function call(verb: string, target: string, flags: CallFlags): Promise<number> {
  const method = methods.find(name => name === verb.toUpperCase())
  if (!method) throw new UsageError(`METHOD is ${methods.join(', ')}, not ${verb}. Example: ${nextSteps.call()}`)
  if (/^[a-z]+:/i.test(target)) {
    throw new UsageError(`PATH is what follows the address, like /api/agents. The address goes into --url.`)
  }
  refuseContradictions(method, flags)
  const filter = flags.jq === undefined ? undefined : await jqProgram(flags.jq)
  const { path, sending } = await requestOf(method, target.startsWith('/') ? target : `/${target}`, flags)
  return connected(flags, 'builder', async connection => {
    const { transport, notes, found, json } = connection
    const by = await credentialFor(connection, method, path)
    const send = (asked: string) => transport.send(method, asked, { ...sending, by })
    const reply = flags.paginate ? await allPages(path, send, notes) : await send(path)
    const { status } = reply
    if (flags.include) printHead(reply)
    else if (!json && process.stderr.isTTY) notes.line(notes.colour.dim(`${status} ${reply.statusText}`))
    await print(reply, json, filter)
    const hint = await refusalHint(status, found, transport)
    if (hint) notes.line(hint)
    return codeForStatus(status)
  })
}

function refuseContradictions(method: Method, { data, field, paginate, include, json }: CallFlags): void {
  if (data !== undefined && field) throw new UsageError('--data and --field both make the body: give one of them.')
  if (paginate && method !== 'GET') throw new UsageError('--paginate follows the pages of a list, so it takes GET.')
  if (include && json) throw new UsageError('--include prints text before the body, so it takes no --json.')
}

/** Fields of a GET are its query, else its body. */
async function requestOf(method: Method, path: string, { data, field, header }: CallFlags) {
  const headers = headersOf(header ?? [])
  const sending = (body?: Sending['body']): Sending => ({ headers, ...(body !== undefined && { body }) })
  if (!field) return { path, sending: sending(data === undefined ? undefined : await jsonGiven('--data', data)) }
  if (endpointAt(method, path)?.multipart && field.some(isFile)) return { path, sending: sending(await formOf(field)) }
  const fields = await typedFields(field)
  if (method !== 'GET') return { path, sending: sending(JSON.stringify(objectOf(fields))) }
  const query = new URLSearchParams(fields.map(([name, value]): [string, string] => [name, String(value)]))
  return { path: `${path}${path.includes('?') ? '&' : '?'}${query}`, sending: sending() }
}

/** Uses the session if the endpoint takes no key, or if there is no key. */
async function credentialFor({ found, openSession }: Connection, method: Method, path: string): Promise<By> {
  const wantsSession = endpointAt(method, path)?.auth === 'session' || !found.key
  return wantsSession && (await openSession()) ? 'session' : 'key'
}

/** The cookie of a session is as good as a password, so it is not shown. */
function printHead({ status, statusText, headers }: Response): void {
  const lines = [...headers].map(([name, value]) => `${name}: ${name === 'set-cookie' ? '(not shown)' : value}`)
  process.stdout.write(`${[`HTTP/1.1 ${status} ${statusText}`, ...lines].join('\n')}\n\n`)
}

async function print(reply: Response, json: boolean, filter?: (json: string) => Promise<string>): Promise<void> {
  const bytes = Buffer.from(await reply.arrayBuffer())
  if (!/\bjson\b/.test(reply.headers.get('content-type') ?? '')) return void process.stdout.write(bytes)
  const text = bytes.toString('utf8')
  // A refusal has other fields than what the program was written for.
  if (filter && reply.ok) return void process.stdout.write(await filter(text))
  process.stdout.write(`${json ? text : laidOut(text)}\n`)
}

function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
