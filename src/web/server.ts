/** The HTTP server: the routes of all records, the other pages, and the connections. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import net from 'node:net'
import polka, { type Polka } from 'polka'
import type { Endpoint } from '../api/endpoint.ts'
import { type Refusal, refuse } from '../api/failures.ts'
import type { RateCategory } from '../api/limits.ts'
import type { Market } from '../market/market.ts'
import { Tracing } from '../market/tracing.ts'
import type { Debug } from '../shared/debug.ts'
import { ArrivingBodies } from './bodies/arriving-bytes.ts'
import { ArrivingFiles } from './bodies/arriving-files.ts'
import { UnreadResponses } from './bodies/unread-responses.ts'
import { recordCallback } from './callback-recording.ts'
import { type Authenticate, isLoopbackHost } from './credentials.ts'
import type { Watched } from './metrics.ts'
import { refuseParserError, refuseTunnel } from './parser-errors.ts'
import type { RateCounters } from './rate-counters.ts'
import { categoryOf, rateLimit } from './rate-limit.ts'
import { Call, isAway, type RefusalPage, type ServerState, type WebRequest } from './response.ts'
import { type AnyVerb, type Serve, serve } from './serve.ts'
import { boundConnections, inFlight } from './sockets/connections.ts'
import { listen } from './sockets/listen.ts'
import { MOST_BEHIND, oneAtATime } from './sockets/one-at-a-time.ts'
import { boundsOf, type GivenBounds } from './sockets/server-bounds.ts'
import { warnOfUntrustedProxy } from './sockets/untrusted-proxy.ts'
import { EventStreams } from './stream.ts'
import { Turns } from './turns.ts'

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
  verbs: Readonly<Record<string, AnyVerb>>
  market: Market
  authenticate: Authenticate
  /** By path. */
  pages?: Readonly<Record<string, WebPage>>
  /** Where requests are counted for the rate limits; in memory unless given. */
  counters?: RateCounters
  bounds?: GivenBounds
  /** What people read instead of a refusal, of endpoints whose responses are pages. */
  refusalPage?: RefusalPage
  /** What stands before it, in a simulator. */
  around?: ((serve: http.RequestListener) => http.RequestListener) | undefined
  /** Takes a line for each request. */
  debug?: Debug | undefined
}

export interface Server {
  /** Rejects with an error for people if the port is in use. Sets `config.baseUrl` if it is empty. */
  listen(): Promise<{ url: string; port: number }>
  /** `/readyz` says 503 from now on; everything is served as before. */
  retire(): void
  /** Accepts no more connections, lets requests in flight finish for at most `graceMs`, then closes them. */
  close(graceMs: number): Promise<void>
  figures(): Watched
}

/** The methods that a route may have, in the order of the Allow header. HEAD is served by the route of GET. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const

/** This page has no rate limit, like the health checks. Source: A-40. */
const METRICS = '/metrics'

/** Bodies are checked once for this many checks of readers. */
const BODY_LOOKS = 6

const timing = {
  headersTimeout: 10_000,
  requestTimeout: 3_600_000, // the largest upload at the slowest allowed rate; the rate itself is checked elsewhere
  connectionsCheckingInterval: 5000,
  maxHeaderSize: 16 * 1024,
  requireHostHeader: false, // ours answers in the envelope
}

export function createServer(options: ServerOptions): Server {
  const { market, counters, debug } = options
  const bounds = boundsOf(market.config, options.bounds ?? {})
  const unread = new UnreadResponses(bounds.unreadBytes, market.log)
  const arriving = new ArrivingBodies(market.log)
  const arrivingFiles = new ArrivingFiles(bounds.arrivingFileBytes, market.log)
  const countRequest = rateLimit(market, counters)
  const bodyLookMs = BODY_LOOKS * bounds.lookMs
  const flight = inFlight()
  const { release } = flight
  const process = market.world.realNow().toString(36)
  const streams = new EventStreams({ heartbeatMs: bounds.heartbeatMs, process, release })
  const turns = new Turns()
  const state: ServerState = {
    market,
    countRequest,
    unread,
    arriving,
    arrivingFiles,
    turns,
    streams,
    tracing: market.memory.of(Tracing),
    bodyLookMs,
    debug,
    closing: false,
  }
  // Proxies usually keep idle connections for 60 s. Ours must last longer, or one could close just as the proxy sends.
  const server = http.createServer({ ...timing, keepAliveTimeout: market.config.trustProxy > 0 ? 65_000 : 5_000 })
  const connections = boundConnections(server, bounds, market.log)
  warnOfUntrustedProxy(server, market.config, market.log)
  const serveRoute = routes(options, state)
  const { around = serve => serve } = options
  const inTurn = oneAtATime(
    around((req, res) => {
      const refusal = refusalBeforeRoutes(state, req)
      if (refusal) void refuseRequest(new Call(state, req, res), refusal)
      else serveRoute(req, res)
    }),
    { refuse: (req, res) => new Call(state, req, res).refuse(refuse('too_many_behind', MOST_BEHIND)), drop: release },
  )
  const front: http.RequestListener = (req, res) => {
    flight.add(req.socket, res)
    inTurn(req, res)
  }
  server.on('request', front).on('checkContinue', front).on('checkExpectation', front)
  server.on('clientError', refuseParserError(market.config, flight.hasBegun)).on('connect', refuseTunnel(market.config))

  return {
    async listen() {
      const { config } = market
      const bound = await listen(server, { host: config.host, port: config.port, flag: '--port' })
      config.baseUrl ||= bound.url
      return bound
    },
    retire() {
      state.closing = true
    },
    async close(graceMs) {
      state.closing = true
      await closeServer(server, () => {
        streams.endAll()
        return flight.ended(graceMs)
      })
      connections.stop()
    },
    figures: () => ({
      turnsWaiting: turns.waiting,
      flows: turns.flows,
      connections: connections.open,
      unreadBytes: unread.total,
      arrivingBytes: arriving.total,
      arrivingFileBytes: arrivingFiles.total,
    }),
  }
}

/**
 * Accepts no more connections, and closes those that are open once `ended` has resolved. The HTTP server's own `close`
 * would close idle ones at once, even if a request is just arriving. So connections stay open while anything is in flight.
 * Each response asks the client to close, and `/readyz` says 503.
 */
async function closeServer(server: http.Server, ended: () => Promise<unknown>): Promise<void> {
  const closed = new Promise<void>(resolve => {
    net.Server.prototype.close.call(server, () => resolve())
  })
  await ended()
  // Idle and silent connections, and those whose grace is over.
  server.closeAllConnections()
  await closed
  server.close() // ends its own timers
}

type Handle = (req: IncomingMessage, res: ServerResponse) => void

/** There is one router for each number of path segments, because a router tries all its routes for every request. */
function routes(options: ServerOptions, state: ServerState): Handle {
  const { endpoints, verbs, market, authenticate, pages = {}, refusalPage = null } = options
  const routers = new Map<number, Polka>()
  const routerOf = (path: string): Polka => {
    const segments = segmentsIn(path)
    const router = routers.get(segments) ?? emptyRouter(state)
    routers.set(segments, router)
    return router
  }
  const get = (path: string, handle: (call: Call) => unknown) =>
    routerOf(path).get(patternOf(path), (req, res) => void handle(new Call(state, req, res, path)))

  get('/healthz', call => call.page(200, 'text/plain', 'ok', { 'x-service-instance': market.config.instanceId }))
  get('/readyz', sendReadiness)
  for (const [path, page] of Object.entries(pages)) {
    const handle: Serve = call => show(page, call)
    get(path, call => {
      if (path === METRICS) return handle(call)
      // Only who reads in a browser asks for a page.
      if (call.req.headers.accept?.includes('text/html')) call.refusalPage = refusalPage
      return limited(call, 'general', handle, true)
    })
  }
  const named = Object.entries(endpoints).filter(([, { only }]) => only !== 'dev' || market.config.mode === 'dev')
  for (const [name, record] of named.sort(([, a], [, b]) => byPath(a.path, b.path))) {
    const verb = verbs[name]
    if (!verb) throw new Error(`The endpoint ${name} has no verb`)
    const handle = serve(record, verb, market, authenticate)
    const category = categoryOf(record)
    const { method, path } = record
    routerOf(path).add(method, patternOf(path), (req, res) => {
      const call = new Call(state, req, res, path)
      if (record.page) call.refusalPage = refusalPage
      void traced(call, () => limited(call, category(req), handle))
    })
  }
  const none = emptyRouter(state)
  return (req, res) => {
    const { handler } = routers.get(segmentsIn(req.url ?? '')) ?? none
    ;(handler as Handle)(req, res)
  }
}

function emptyRouter(state: ServerState): Polka {
  const router: Polka = polka({
    onNoMatch: (req, res) => {
      const call = new Call(state, req, res)
      recordStray(call)
      void refuseRequest(call, noMatch(router, req))
    },
    onError: (error, req, res) => new Call(state, req, res).fail(error),
  })
  router.parse = locationOf
  return router
}

/**
 * What polka's own parser says of a target, but for the query, which is left to whoever asks for it: of a request that is refused it would
 * be 4 of 60 µs.
 * @internal Tested against polka's.
 */
export function locationOf({ url: raw = '' }: IncomingMessage): ReturnType<Polka['parse']> {
  const hash = raw.indexOf('#', 1)
  const target = hash === -1 ? raw : raw.slice(0, hash)
  const end = target.indexOf('?', 1)
  const [pathname, search] = end === -1 ? [target, ''] : [target.slice(0, end), target.slice(end)]
  return { pathname, search, query: undefined, hash: hash === -1 ? undefined : raw.slice(hash), raw }
}

/** Case-sensitive. The router's own patterns are not, so another spelling could get around a proxy's rule for a path. */
const patternOf = (path: string) => new RegExp(`^${path.replaceAll('.', '\\.').replace(/:(\w+)/g, '(?<$1>[^/]+)')}/?$`)

/**
 * Counts the segments of the path. Like the router, it ignores a slash at the end.
 * @internal Tested against the router it stands before.
 */
export function segmentsIn(target: string): number {
  const end = target.indexOf('?')
  const path = end === -1 ? target : target.slice(0, end)
  let count = 0
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) count++
  return path.length > 1 && path.endsWith('/') ? count - 1 : count
}

/** Tells a load balancer whether to send requests here: not while the server closes, nor without its database. */
async function sendReadiness(call: Call) {
  const { server } = call
  const answers = server.closing || (await server.market.db.ready())
  if (server.closing) call.page(503, 'text/plain', 'closing')
  else if (answers) call.page(200, 'text/plain', 'ok')
  else call.page(503, 'text/plain', 'the database takes no work')
}

/** Whoever stands in front may have begun the trace; of strangers nobody takes one. Source: A-320. */
function traced(call: Call, work: () => Promise<void>): Promise<void> {
  const { tracing } = call.server
  if (!tracing.tracer) return work()
  const { method = '' } = call.req
  const parent = call.fromTrusted('traceparent')
  const attributes = {
    'http.request.method': method,
    'http.route': call.route ?? '',
    'marketplace.request_id': call.id,
  }
  return tracing.span({ name: `${method} ${call.route}`, kind: 'server', attributes, parent }, work, () => ({
    'http.response.status_code': call.status,
  }))
}

/**
 * Counts each request once, on arrival and before authentication. `evenAway`: what asks the database for nothing is served while that
 * can't count, so that a console can be opened and say so. Source: A-40.
 */
function limited(call: Call, category: RateCategory, next: Serve, evenAway = false): Promise<void> {
  const { countRequest } = call.server
  if (!countRequest) return next(call)
  return countRequest(call, category).then(
    refusal => (refusal ? call.refuse(refusal) : next(call)),
    error => (evenAway && isAway(error) ? next(call) : call.fail(error)),
  )
}

const refuseRequest = (call: Call, refusal: Refusal) => limited(call, 'general', async () => call.refuse(refusal))

/** Sorts fixed segments before parameters, because the first matching route serves. */
function byPath(a: string, b: string): number {
  const sortable = (path: string) => path.replaceAll('/:', '/\uffff')
  return sortable(a) < sortable(b) ? -1 : 1
}

async function show(page: WebPage, call: Call) {
  try {
    const { path, headers } = call.req
    const reply = await page({ path, query: call.query, headers })
    if (!reply) throw refuse('no_such_path', path.slice(0, 200))
    call.page(reply.status ?? 200, reply.type, reply.body, reply.headers)
  } catch (error) {
    call.fail(error)
  }
}

/** A callback to a path that is none is what its author looks for. */
function recordStray(call: Call): void {
  const { recording } = call.server.market
  if (recording && call.req.method === 'POST' && /\/(?:task|test)_[0-9a-f]{32}\b/.test(call.req.url ?? ''))
    recordCallback(call, recording, () => ({ body: Buffer.alloc(0) }))
}

function noMatch(router: Polka, { path, method = '' }: Pick<WebRequest, 'path' | 'method'>) {
  const allowed = METHODS.filter(one => router.find(one, path).handlers.length > 0)
  if (allowed.length === 0) return refuse('no_such_path', path.slice(0, 200))
  const names = allowed.join(', ')
  const refusal = refuse('wrong_method', method, names)
  refusal.headers = { allow: names }
  return refusal
}

/**
 * Returns why no route could serve the request; null if one may. In dev it also refuses every host name but this machine's
 * own. Source: A-10.
 */
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
