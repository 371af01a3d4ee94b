/** The HTTP server: the routes of all records, what lies outside them, and the life of the connections. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import polka, { type Polka } from 'polka'
import type { Endpoint } from '../api/endpoint.ts'
import { refuse } from '../api/failures.ts'
import type { Config } from '../config.ts'
import type { Market } from '../market/market.ts'
import { Call, type House, type WebRequest } from './answer.ts'
import { answerParserError } from './broken.ts'
import { type Authenticate, isLoopbackHost } from './credentials.ts'
import { serve, type Verb } from './serve.ts'

export type { Authenticate } from './credentials.ts'
export type { Verb } from './serve.ts'

export interface PageRequest {
  readonly path: string
  readonly query: Readonly<Record<string, string | string[] | undefined>>
  readonly headers: IncomingMessage['headers']
}

export interface PageReply {
  readonly status?: number
  readonly type: string
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** A plain GET outside the envelope: `/docs`, `/openapi.json`, `/metrics`. null → 404. Source: D7. */
export type WebPage = (request: PageRequest) => PageReply | null | Promise<PageReply | null>

export interface ServerOptions {
  endpoints: Readonly<Record<string, Endpoint>>
  /** One verb for each record, under the same name. */
  verbs: Readonly<Record<string, Verb>>
  market: Market
  authenticate: Authenticate
  /** By path. */
  pages?: Readonly<Record<string, WebPage>>
}

export interface Server {
  /** Rejects with a sentence if the port is taken. Sets `config.baseUrl` if it is empty. */
  listen(): Promise<{ url: string; port: number }>
  /** Stops accepting, lets what is in flight finish for `graceMs` at most, then cuts it off. */
  close(graceMs: number): Promise<void>
}

const timing = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5000,
  maxHeaderSize: 16 * 1024,
  requireHostHeader: false, // ours answers in the envelope
}

export function createServer(options: ServerOptions): Server {
  const house: House = { market: options.market, closing: false }
  const server = http.createServer(timing)
  const app = routes(options, house)
  const flight = inFlight()
  const front = (req: IncomingMessage, res: ServerResponse) => {
    flight.add(res)
    if (isWelcome(house, req, res)) (app.handler as (req: IncomingMessage, res: ServerResponse) => void)(req, res)
  }
  server.on('request', front).on('checkExpectation', front).on('clientError', answerParserError(options.market.config))

  return {
    listen: () => listen(server, options.market.config),
    async close(graceMs) {
      house.closing = true
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      await flight.ended(graceMs)
      // Idle ones, silent ones, and those whose time is over.
      server.closeAllConnections()
      await closed
    },
  }
}

function routes({ endpoints, verbs, market, authenticate, pages = {} }: ServerOptions, house: House): Polka {
  const app: Polka = polka({
    onNoMatch: (req, res) => new Call(house, req, res).refuse(noMatch(app, req)),
    onError: (error, req, res) => new Call(house, req, res).fail(error),
  })
  app.get('/healthz', (req, res) => new Call(house, req, res).page(200, 'text/plain', 'ok'))
  app.get('/readyz', (req, res) => {
    const call = new Call(house, req, res)
    if (house.closing) call.page(503, 'text/plain', 'closing')
    else call.page(200, 'text/plain', 'ok')
  })
  for (const [path, page] of Object.entries(pages)) app.get(path, (req, res) => show(page, new Call(house, req, res)))
  const named = Object.entries(endpoints).filter(([, { only }]) => only !== 'dev' || market.config.mode === 'dev')
  for (const [name, record] of named.sort(([, a], [, b]) => byPath(a.path, b.path))) {
    const verb = verbs[name]
    if (!verb) throw new Error(`The endpoint ${name} has no verb`)
    const handle = serve(record, verb, market, authenticate)
    app.add(record.method, record.path, (req, res) => handle(new Call(house, req, res)))
  }
  return app
}

/** Fixed segments before parameters, as the first route that matches is the one that serves. */
function byPath(a: string, b: string): number {
  const sortable = (path: string) => path.replaceAll('/:', '/\uffff')
  return sortable(a) < sortable(b) ? -1 : 1
}

async function show(page: WebPage, call: Call) {
  try {
    const { path, query, headers } = call.req
    const reply = await page({ path, query, headers })
    if (!reply) throw refuse('no_such_path', path.slice(0, 200))
    call.page(reply.status ?? 200, reply.type, reply.body, reply.headers)
  } catch (error) {
    call.fail(error)
  }
}

function noMatch(app: Polka, { path, method = '' }: Pick<WebRequest, 'path' | 'method'>) {
  const allowed = new Set<string>()
  for (const route of (app as unknown as { routes: { pattern: RegExp; method: string }[] }).routes) {
    if (route.pattern.test(path)) allowed.add(route.method)
  }
  if (allowed.size === 0) return refuse('no_such_path', path.slice(0, 200))
  if (allowed.has('GET')) allowed.add('HEAD')
  const names = [...allowed].join(', ')
  const refusal = refuse('wrong_method', method, names)
  refusal.headers = { allow: names }
  return refusal
}

/** Turns away what no route could make sense of, and in dev every name that is not this machine's own. Source: D10. */
function isWelcome(house: House, req: IncomingMessage, res: ServerResponse): boolean {
  const { host } = req.headers
  const target = req.url ?? ''
  if (host === undefined && req.httpVersion === '1.1') {
    new Call(house, req, res).refuse(refuse('bad_request', 'The Host header is missing'))
  } else if (house.market.config.mode === 'dev' && !isLoopbackHost(host ?? '')) {
    new Call(house, req, res).refuse(refuse('host_not_local'))
  } else if (target.includes('%') && !isDecodable(target)) {
    new Call(house, req, res).refuse(refuse('bad_request', 'The path has a percent sign that encodes nothing'))
  } else return true
  return false
}

function isDecodable(target: string): boolean {
  try {
    decodeURIComponent(target.split(/[?#]/, 1)[0]!)
    return true
  } catch {
    return false
  }
}

/** Counts requests whose answer is not out yet. */
function inFlight() {
  let count = 0
  let rest = () => {}
  const end = () => {
    if (--count === 0) rest()
  }
  return {
    add(res: ServerResponse) {
      count++
      res.once('close', end)
    },
    async ended(graceMs: number) {
      if (count === 0) return
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, graceMs)
        rest = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
  }
}

function listen(server: http.Server, config: Config): Promise<{ url: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const words = `Port ${config.port} is in use; choose another with --port (0 takes a free one)`
      reject(error.code === 'EADDRINUSE' ? new Error(words, { cause: error }) : error)
    })
    server.listen({ host: config.host, port: config.port }, () => {
      const { port } = server.address() as AddressInfo
      const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
      config.baseUrl ||= url
      server.removeAllListeners('error').on('error', () => {}) // a failed accept concerns one client, not the house
      resolve({ url, port })
    })
  })
}
