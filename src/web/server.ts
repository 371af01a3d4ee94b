/** The HTTP server: the routes of all records, what lies outside them, and the life of the connections. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import net from 'node:net'
import polka, { type Polka } from 'polka'
import type { Endpoint } from '../api/endpoint.ts'
import { type Refusal, refuse } from '../api/failures.ts'
import type { RateCategory } from '../api/limits.ts'
import type { Config } from '../config.ts'
import type { Market } from '../market/market.ts'
import { ArrivingBodies } from './arriving-bytes.ts'
import { boundConnections } from './connections.ts'
import { type Authenticate, isLoopbackHost } from './credentials.ts'
import { listen } from './listen.ts'
import type { Watched } from './metrics.ts'
import { answerParserError, answerTunnel } from './parser-errors.ts'
import type { RateCounters } from './rate-counters.ts'
import { categoryOf, rateLimit } from './rate-limit.ts'
import { Call, type ServerState, type WebRequest } from './response.ts'
import { type Serve, serve, type Verb } from './serve.ts'
import { UnreadResponses } from './unread-responses.ts'

interface PageRequest {
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

/** A plain GET outside the envelope: `/docs`, `/openapi.json`, `/metrics`. null → 404. Source: A-7. */
export type WebPage = (request: PageRequest) => PageReply | null | Promise<PageReply | null>

export interface ServerOptions {
  endpoints: Readonly<Record<string, Endpoint>>
  /** One verb for each record, under the same name. */
  verbs: Readonly<Record<string, Verb>>
  market: Market
  authenticate: Authenticate
  /** By path. */
  pages?: Readonly<Record<string, WebPage>>
  /** Where requests are counted for the rate limits; in memory unless given. */
  counters?: RateCounters
  bounds?: GivenBounds
}

/** What is not given is as `boundsOf` says. */
export interface GivenBounds {
  connections?: number | undefined
  ofAddress?: number | undefined
  /** Of answers that may wait for their readers, in MiB; of one address an eighth. */
  unreadMegabytes?: number | undefined
  /** How often readers are looked at, and bodies a sixth as often. */
  lookMs?: number
}

export interface Server {
  /** Rejects with a sentence if the port is taken. Sets `config.baseUrl` if it is empty. */
  listen(): Promise<{ url: string; port: number }>
  /** Stops accepting, lets what is in flight finish for `graceMs` at most, then cuts it off. */
  close(graceMs: number): Promise<void>
  figures(): Watched
}

/** The one page that is never limited, as health is not. Source: A-40. */
const METRICS = '/metrics'

/** Of the looks at readers, so many for one at bodies. */
const BODY_LOOKS = 6

const timing = {
  headersTimeout: 10_000,
  requestTimeout: 3_600_000, // of the largest upload at the slowest pace; a body is judged by that
  connectionsCheckingInterval: 5000,
  maxHeaderSize: 16 * 1024,
  requireHostHeader: false, // ours answers in the envelope
}

export function createServer(options: ServerOptions): Server {
  const { market, counters } = options
  const bounds = boundsOf(market.config, options.bounds ?? {})
  const unread = new UnreadResponses(bounds.unreadBytes, market.log)
  const arriving = new ArrivingBodies(market.log)
  const takeRate = rateLimit(market, counters)
  const state: ServerState = {
    market,
    takeRate,
    unread,
    arriving,
    bodyLookMs: BODY_LOOKS * bounds.lookMs,
    closing: false,
  }
  // A proxy keeps its connections for 60 s by custom: ours must not end just before it sends.
  const server = http.createServer({ ...timing, keepAliveTimeout: market.config.trustProxy > 0 ? 65_000 : 5_000 })
  const connections = boundConnections(server, bounds, market.log)
  const serveRoute = routes(options, state)
  const flight = inFlight()
  const front = (req: IncomingMessage, res: ServerResponse) => {
    flight.add(res)
    const refusal = refusalBeforeRoutes(state, req)
    if (refusal) void refuseRequest(new Call(state, req, res), refusal)
    else serveRoute(req, res)
  }
  server.on('request', front).on('checkContinue', front).on('checkExpectation', front)
  server.on('clientError', answerParserError(market.config)).on('connect', answerTunnel(market.config))

  return {
    async listen() {
      const { config } = market
      const bound = await listen(server, { host: config.host, port: config.port, flag: '--port' })
      config.baseUrl ||= bound.url
      return bound
    },
    async close(graceMs) {
      state.closing = true
      // The HTTP server's own way would cut idle connections at once, under a request that is just on its way. While
      // anything is in flight they go on, with an answer that ends them, and `/readyz` says what is going on.
      const closed = new Promise<void>(resolve => {
        net.Server.prototype.close.call(server, () => resolve())
      })
      await flight.ended(graceMs)
      // Idle ones, silent ones, and those whose time is over.
      server.closeAllConnections()
      await closed
      server.close() // ends its own timers
      connections.stop()
    },
    figures: () => ({ connections: connections.open, unreadBytes: unread.total, arrivingBytes: arriving.total }),
  }
}

const boundsOf = ({ mode, trustProxy }: Config, given: GivenBounds) => ({
  connections: given.connections ?? 4_096,
  ofAddress: trustProxy > 0 ? null : (given.ofAddress ?? (mode === 'dev' ? null : 100)),
  lookMs: given.lookMs ?? 5_000,
  unreadBytes: (given.unreadMegabytes ?? 128) * 1024 * 1024,
})

type Handle = (req: IncomingMessage, res: ServerResponse) => void

/** One router for each number of segments, as a router tries each of its routes on every request. */
function routes({ endpoints, verbs, market, authenticate, pages = {} }: ServerOptions, state: ServerState): Handle {
  const routers = new Map<number, Polka>()
  const routerOf = (path: string): Polka => {
    const segments = segmentsIn(path)
    const router = routers.get(segments) ?? emptyRouter(state)
    routers.set(segments, router)
    return router
  }
  const get = (path: string, handle: (call: Call) => unknown) =>
    routerOf(path).get(path, (req, res) => void handle(new Call(state, req, res, path)))

  get('/healthz', call => call.page(200, 'text/plain', 'ok', { 'x-service-instance': market.config.instanceId }))
  get('/readyz', sendReadiness)
  for (const [path, page] of Object.entries(pages)) {
    const handle: Serve = call => show(page, call)
    get(path, path === METRICS ? handle : call => limited(call, 'general', handle))
  }
  const named = Object.entries(endpoints).filter(([, { only }]) => only !== 'dev' || market.config.mode === 'dev')
  for (const [name, record] of named.sort(([, a], [, b]) => byPath(a.path, b.path))) {
    const verb = verbs[name]
    if (!verb) throw new Error(`The endpoint ${name} has no verb`)
    const handle = serve(record, verb, market, authenticate)
    const category = categoryOf(record)
    const { method, path } = record
    routerOf(path).add(method, path, (req, res) => limited(new Call(state, req, res, path), category(req), handle))
  }
  for (const router of routers.values()) matchExactly(router)
  const none = emptyRouter(state)
  return (req, res) => {
    const { handler } = routers.get(segmentsIn(req.url ?? '')) ?? none
    ;(handler as Handle)(req, res)
  }
}

function emptyRouter(state: ServerState): Polka {
  const router: Polka = polka({
    onNoMatch: (req, res) => void refuseRequest(new Call(state, req, res), noMatch(router, req)),
    onError: (error, req, res) => new Call(state, req, res).fail(error),
  })
  return router
}

/** The router's own patterns take any case, so that a rule of a proxy for a path could be passed by another spelling. */
function matchExactly(router: Polka): void {
  for (const route of routesOf(router)) route.pattern = new RegExp(route.pattern.source)
}

const routesOf = (router: Polka) => (router as unknown as { routes: { pattern: RegExp; method: string }[] }).routes

/**
 * Of the path alone; a slash at its end makes none, as to the router.
 * @internal Tested against the router it stands before.
 */
export function segmentsIn(target: string): number {
  const end = target.indexOf('?')
  const path = end === -1 ? target : target.slice(0, end)
  let count = 0
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) count++
  return path.length > 1 && path.endsWith('/') ? count - 1 : count
}

/** Whether a balancer should send requests here: not while this server closes, nor without its database. */
async function sendReadiness(call: Call) {
  const { server } = call
  const answers = server.closing || (await server.market.db.ready())
  if (server.closing) call.page(503, 'text/plain', 'closing')
  else if (answers) call.page(200, 'text/plain', 'ok')
  else call.page(503, 'text/plain', 'the database does not answer')
}

/** Each request counts once, on arrival: before anyone asks who calls. Source: A-40. */
function limited(call: Call, category: RateCategory, next: Serve): Promise<void> {
  const { takeRate } = call.server
  if (!takeRate) return next(call)
  return takeRate(call, category).then(
    refusal => (refusal ? call.refuse(refusal) : next(call)),
    error => call.fail(error),
  )
}

const refuseRequest = (call: Call, refusal: Refusal) => limited(call, 'general', async () => call.refuse(refusal))

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
  for (const route of routesOf(app)) {
    if (route.pattern.test(path)) allowed.add(route.method)
  }
  if (allowed.size === 0) return refuse('no_such_path', path.slice(0, 200))
  if (allowed.has('GET')) allowed.add('HEAD')
  const names = [...allowed].join(', ')
  const refusal = refuse('wrong_method', method, names)
  refusal.headers = { allow: names }
  return refusal
}

/** Why no route could make sense of it; in dev also every name that is not this machine's own. Source: A-10. */
function refusalBeforeRoutes({ market }: ServerState, req: IncomingMessage): Refusal | null {
  const { host } = req.headers
  const target = req.url ?? ''
  if (host === undefined && req.httpVersion === '1.1') return refuse('bad_request', 'The Host header is missing')
  if (market.config.mode === 'dev' && !isLoopbackHost(host ?? '')) return refuse('host_not_local')
  if (!target.includes('%') || isDecodable(target)) return null
  return refuse('bad_request', 'The path has a percent sign that encodes nothing')
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
