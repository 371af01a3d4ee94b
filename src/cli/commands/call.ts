/** `marketplace call`: sends any request, with the credentials that are found. */

import type { Pagination } from '../../api/endpoints/calls.ts'
import { limits } from '../../api/limits.ts'
import type { By, Method, Sending } from '../../client/transport.ts'
import { UsageError } from '../../settings/config.ts'
import { jsonGiven } from '../command-line/json-input.ts'
import { type Connection, type ConnectionFlags, connected, refusalHint } from '../connection/connection.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { endpointAt, formOf, headersOf, isFile, objectOf, typedFields } from '../endpoint/call-fields.ts'
import { codeForStatus, exitCodes, Fault } from '../exit-codes.ts'
import { plain, print, printBytes, type Ui } from '../output/ui.ts'
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
export async function call(words: readonly string[], flags: CallFlags): Promise<number> {
  const [verb = '', target = ''] = words.length === 1 && words[0]!.startsWith('/') ? ['GET', words[0]] : words
  if (target === '') throw new UsageError(`Which path? Example: ${nextSteps.call()}`)
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
    await show(reply, json, filter)
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
  print(`${[`HTTP/1.1 ${status} ${statusText}`, ...lines].map(plain).join('\n')}\n\n`, { whole: true })
}

async function show(reply: Response, json: boolean, filter?: (json: string) => Promise<string>): Promise<void> {
  const bytes = Buffer.from(await reply.arrayBuffer())
  if (!/\bjson\b/.test(reply.headers.get('content-type') ?? '')) return void printBytes(bytes)
  const text = bytes.toString('utf8')
  // A refusal has other fields than what the program was written for.
  if (filter && reply.ok) return print(await filter(text), { whole: true })
  print(`${json ? text : laidOut(text)}\n`, { json: true, whole: true })
}

function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/**
 * Throws a UsageError if it is no program. What it returns makes the lines to print: texts stand alone, as with `jq -r`. The
 * package is jq itself, compiled to WebAssembly, and loaded on demand. Source: A-246.
 */
export async function jqProgram(program: string): Promise<(json: string) => Promise<string>> {
  const { raw } = await import('jq-wasm')
  // Compiled alone, so that a typo is told before anything is sent.
  await raw('null', `if false then (${program}\n) else empty end`).catch((error: Error) => {
    throw new UsageError(`--jq takes a program of jq, like '.data.items[].slug': ${wordsOf(error)}.`)
  })
  return async json => {
    const lines = await raw(json, program, ['-rc']).catch((error: Error) => {
      throw new Fault(`The program of --jq does not fit the answer: ${wordsOf(error)}`, {
        code: exitCodes.failed,
        hint: `It is given the whole answer, {success, data}; --jq '.data | keys' says what that has.`,
      })
    })
    return lines === '' ? '' : `${lines}\n`
  }
}

const wordsOf = ({ message }: Error) => message.split('\n', 1)[0]!.replace(/^jq: /, '').trim()

/** A list shows its first 10,000 entries, so this many pages of the largest size are all that there are. Source: A-222. */
const MOST_PAGES = 100

interface ListBody {
  success: boolean
  data?: { pagination?: Pagination } & Record<string, unknown>
}

/** Resolves to the first response with the entries of all pages, or to the first refusal. */
async function allPages(path: string, send: (path: string) => Promise<Response>, notes: Ui): Promise<Response> {
  const first = await send(pageOf(path, 1))
  if (!first.ok) return first
  const whole = (await first.json()) as ListBody
  const key = Object.keys(whole.data ?? {}).find(name => Array.isArray(whole.data?.[name]))
  const { pagination } = whole.data ?? {}
  if (!pagination || key === undefined)
    throw new UsageError('--paginate follows the pages of a list, and this is none.')
  const items = [...(whole.data![key] as unknown[])]
  let hasMore = pagination.hasMore
  for (let page = 2; hasMore && page <= MOST_PAGES; page++) {
    const reply = await send(pageOf(path, page))
    if (!reply.ok) return reply
    const { data } = (await reply.json()) as ListBody
    items.push(...(data![key] as unknown[]))
    hasMore = data!.pagination!.hasMore
  }
  if (hasMore) notes.line(`There are more than ${MOST_PAGES} pages; these are the first.`)
  const all = { ...pagination, page: 1, limit: items.length, totalPages: 1, hasMore }
  const body = { ...whole, data: { ...whole.data, [key]: items, pagination: all } }
  return new Response(JSON.stringify(body), {
    status: first.status,
    statusText: first.statusText,
    headers: first.headers,
  })
}

/** Asks for as many entries a page as there may be, unless the path says how many. */
function pageOf(path: string, page: number): string {
  const [base = '', text = ''] = path.split('?', 2)
  const query = new URLSearchParams(text)
  query.set('page', String(page))
  if (!query.has('limit')) query.set('limit', String(limits.page.max))
  return `${base}?${query}`
}
