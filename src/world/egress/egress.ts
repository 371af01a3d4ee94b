/** Sends all webhooks: POSTs under rules for addresses, time and size. Source: A-42. */

import type { Socket } from 'node:net'
import type { Pool } from 'undici'
import { boundedCache, bytesOfText } from '../../shared/bounded-cache.ts'
import type { Debug } from '../../shared/debug.ts'
import type { HeaderLines } from '../header-lines.ts'
import type { Egress, OutgoingResult } from '../world.ts'
import { type AddressRule, loadDomains } from './addresses.ts'
import { type Attempt, ConnectError, type ConnectOptions, openConnection } from './connect.ts'
import { EgressWatch } from './debug.ts'
import { createNames, type Lookup, type NamesOptions } from './names.ts'
import { OutgoingPost } from './outgoing-post.ts'
import { type Pems, trustStore } from './trust.ts'
import { loadPool } from './undici-internals.ts'
export interface EgressOptions extends AddressRule {
  requireHttps: boolean
  /** Authorities that are trusted besides Node's own and NODE_EXTRA_CA_CERTS. The first TLS connection awaits a promise. */
  ca?: Pems | Promise<Pems>
  /** How names are looked up. */
  names?: NamesOptions | undefined
  /** Replaces `names`. */
  lookup?: Lookup
  /** The ranges of ports that may be called; all ports unless given. */
  ports?: readonly PortRange[] | undefined
  /** Takes a line for each attempt; without it nothing is watched. */
  debug?: Debug | undefined
}

export type PortRange = readonly [from: number, to: number]

/** Makes the sender. Connections are kept for some seconds and shared by origin. `close` aborts what is under way. */
export function createEgress({ debug, ...options }: EgressOptions): Egress {
  if (!debug) return openEgress(options, find => find)
  const watch = new EgressWatch(debug)
  return watch.watched(openEgress(options, find => watch.lookup(find)))
}

function openEgress(
  { requireHttps, ca, names: asking, lookup, ports, ...rule }: Omit<EgressOptions, 'debug'>,
  watched: (find: Lookup) => Lookup,
): Egress {
  const names = createNames(asking)
  const routes = new Routes({ ...rule, lookup: watched(lookup ?? names.lookup), trust: trustStore(ca) })
  let loading: Promise<typeof Pool> | undefined
  let NewPool: typeof Pool | undefined
  let closed = false

  const destination = keptJudgements(text => judged(text, requireHttps, ports))

  function send(url: URL, post: OutgoingPost): void {
    if (closed) return void post.fail('reset', CLOSING)
    routes.to(url.origin, NewPool!).send(url, post)
  }

  // By the first call, so that a start does not wait for it.
  const load = async () => {
    loading ??= loadPool()
    NewPool = await loading
  }
  // Loaded early in the background, because there may be no file descriptor free when the first webhook comes.
  const early = setTimeout(() => void Promise.all([load(), loadDomains()]).catch(() => {}), LOAD_AFTER_MS).unref()
  function loadThenSend(url: URL, post: OutgoingPost): void {
    load().then(
      () => send(url, post),
      () => post.fail('own_fault', 'The HTTP client could not be loaded; this says nothing about the agent.'),
    )
  }

  return {
    post(request): Promise<OutgoingResult> {
      const post = new OutgoingPost(request)
      const url = destination(request.url)
      if (url instanceof ConnectError) post.fail(url.reason, url.message)
      else if (NewPool) send(url, post)
      else loadThenSend(url, post)
      return post.result
    },
    // A recent connection proves that the network works, but not that names can be resolved.
    async isOnline(failure) {
      const isThere = failure !== 'dns' && performance.now() - routes.connectedAt < ONLINE_MS
      return isThere || names.answer()
    },
    async close() {
      closed = true
      clearTimeout(early)
      await routes.close()
    },
  }
}

/** The routes in use, one for each origin. One that rests is dropped. */
class Routes {
  readonly #options: RouteOptions
  readonly #open = new Map<string, Route>()
  /** When a connection was made last. */
  connectedAt = Number.NEGATIVE_INFINITY

  constructor(options: Omit<RouteOptions, 'onConnected'>) {
    const onConnected = () => {
      this.connectedAt = performance.now()
    }
    this.#options = { ...options, onConnected }
  }

  to(origin: string, NewPool: typeof Pool): Route {
    let route = this.#open.get(origin)
    if (!route) {
      route = new Route(NewPool, origin, this.#options, idle => {
        if (this.#open.get(origin) === idle) this.#open.delete(origin)
      })
      this.#open.set(origin, route)
    }
    return route
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(route => route.close()))
  }
}

/**
 * Opens a pool to a server that the operator has configured, such as an object store. The rules for webhooks don't apply.
 * Connecting, waiting for a response and waiting for more of it each end after some seconds.
 */
export async function connectionsTo(origin: string, silenceMs = 15_000): Promise<Pool> {
  const { Pool } = await import('undici')
  return new Pool(origin, {
    connections: 128,
    connectTimeout: 5_000,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 2_500, // see happy-eyeballs.ts
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    keepAliveMaxTimeout: 30_000,
    maxHeaderSize: MAX_HEADER_BYTES,
  })
}

/** For how long a connection proves that the network works. */
const ONLINE_MS = 30_000
const LOAD_AFTER_MS = 1_000
const MAX_HEADER_BYTES = 16 * 1024
const MAX_CONNECTIONS_PER_ORIGIN = 64
const CLOSING = 'The marketplace is closing its connections.'
const ABANDONED = new ConnectError('timeout', 'Nobody waits for this connection any more.')

interface RouteOptions extends Omit<ConnectOptions, 'account'> {
  onConnected(): void
}

type Connected = (...result: [null, Socket] | [Error, null]) => void

/** The connections to one origin. Each was checked when it was opened, so it can be reused without a check. */
class Route {
  readonly #pool: Pool
  readonly #connecting: RouteOptions
  readonly #onIdle: (route: Route) => void
  readonly #waiting = new Set<OutgoingPost>()
  readonly #opening = new Set<Attempt>()
  /** By the error that has ended it: from when on a connection was kept for further requests. */
  readonly #keptFrom = new WeakMap<Error, number>()
  #open = 0
  #session: Buffer | undefined

  constructor(NewPool: typeof Pool, origin: string, connecting: RouteOptions, onIdle: (route: Route) => void) {
    this.#connecting = connecting
    this.#onIdle = onIdle
    this.#pool = new NewPool(origin, {
      connections: MAX_CONNECTIONS_PER_ORIGIN,
      keepAliveMaxTimeout: 30_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The post has its own deadline. These time-outs would be restarted by every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (to: { protocol: string; hostname: string; port: string }, done: Connected) => this.#connect(to, done),
    })
  }

  send(url: URL, post: OutgoingPost): void {
    this.#waiting.add(post)
    post.onEnd(() => {
      this.#waiting.delete(post)
      this.#tidy()
    })
    const { body, keepsWire } = post.request
    const path = url.pathname + url.search
    const headers = { ...post.request.headers, 'accept-encoding': 'identity' }
    if (keepsWire) post.sentHeaders = () => linesWritten(url, headers, body)
    // Never throws: errors go to the post.
    const dispatch = () => void this.#pool.dispatch({ method: 'POST', path, headers, body }, post)
    post.onReset = (error, begunAt) => {
      const keptFrom = this.#keptFrom.get(error)
      const mayRepeat = keptFrom !== undefined && begunAt >= keptFrom
      if (mayRepeat) dispatch()
      return mayRepeat
    }
    dispatch()
  }

  async close(): Promise<void> {
    for (const post of this.#waiting) post.fail('reset', CLOSING)
    this.#tidy()
    await this.#pool.destroy()
  }

  #connect(to: { protocol: string; hostname: string; port: string }, done: Connected): void {
    const secure = to.protocol === 'https:'
    const destination = { secure, hostname: to.hostname, port: Number(to.port) || (secure ? 443 : 80) }
    const [first] = this.#waiting
    const attempt = openConnection(destination, {
      ...this.#connecting,
      account: first?.request.account,
      session: this.#session,
      keepSession: session => {
        this.#session = session
      },
    })
    this.#opening.add(attempt)
    attempt.socket.then(
      socket => {
        this.#opening.delete(attempt)
        this.#open += 1
        this.#connecting.onConnected()
        socket.once('close', () => {
          this.#open -= 1
          this.#tidy()
        })
        // What it was opened for is written at once: whatever is written later is a further request.
        let keptFrom = Number.POSITIVE_INFINITY
        socket.once('error', error => this.#keptFrom.set(error, keptFrom))
        done(null, socket)
        setImmediate(() => {
          keptFrom = performance.now()
          closeUnused(socket)
        })
      },
      error => {
        this.#opening.delete(attempt)
        done(error, null)
        this.#tidy()
      },
    )
  }

  // When no post waits, attempts to connect are aborted. When no connection is open either, the pool is destroyed.
  #tidy(): void {
    if (this.#waiting.size > 0) return
    for (const attempt of this.#opening) attempt.cancel(ABANDONED)
    if (this.#open > 0 || this.#opening.size > 0) return
    this.#onIdle(this)
    void this.#pool.destroy()
  }
}

/** The header lines that undici writes, in their order. */
const linesWritten = (url: URL, headers: Readonly<Record<string, string>>, body: string): HeaderLines => [
  ['host', url.host],
  ['connection', 'keep-alive'],
  ...Object.entries(headers),
  ['content-length', String(Buffer.byteLength(body))],
]

// After a request was aborted, undici opens a second connection although there is nothing to send.
function closeUnused(socket: Socket): void {
  if (socket.bytesWritten === 0) socket.destroy()
}

function judged(text: string, requireHttps: boolean, ports: readonly PortRange[] | undefined): URL | ConnectError {
  const url = parsed(text)
  if (!url || !/^https?:$/.test(url.protocol)) return new ConnectError('bad_url', 'The URL is not an http(s) address.')
  if (url.username || url.password) {
    return new ConnectError('bad_url', 'The URL holds a user name or password; webhooks go without.')
  }
  if (requireHttps && url.protocol !== 'https:') {
    return new ConnectError('https_required', 'The URL begins with http://; webhooks go to https:// only.')
  }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  if (ports && !ports.some(([from, to]) => port >= from && port <= to)) {
    return new ConnectError('forbidden_port', `Port ${port} is not called; webhooks go to ${portWords(ports)} only.`)
  }
  return url
}

const portWords = (ports: readonly PortRange[]) =>
  `ports ${ports.map(([from, to]) => (from === to ? from : `${from} to ${to}`)).join(', ')}`

function parsed(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** Room for some 10,000 URLs of 60 characters, or 600 of the longest. */
const KEPT_BYTES = 8 * 1024 * 1024
/** What a URL takes besides its text. Measured: 298 bytes with a text of 60 characters, 2,237 with one of 2,000. */
const URL_BYTES = 250

type Judgement = URL | ConnectError

/** @internal Tested by itself. */
export function keptJudgements(judge: (text: string) => Judgement, maxBytes = KEPT_BYTES) {
  const known = boundedCache<Judgement>({
    maxBytes,
    bytesOf: found => URL_BYTES + bytesOfText(found instanceof URL ? found.href : found.message),
  })
  return (text: string): Judgement => {
    const found = known.get(text)
    if (found) return found
    const judged = judge(text)
    known.set(text, judged)
    return judged
  }
}
