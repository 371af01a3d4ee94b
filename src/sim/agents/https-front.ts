/** The local HTTPS front: serves `https://<name>.localhost`, on one port, for agents that speak plain HTTP here. A-240. */
import http from 'node:http'
import type https from 'node:https'
import { createRequire } from 'node:module'
import net from 'node:net'
import { Worker } from 'node:worker_threads'
import { isLoopback } from '../../world/egress/addresses.ts'
import { isOwnHeader, refuse } from '../../world/egress/front-answers.ts'

export interface FrontAuthority {
  /** The authority's certificate in PEM, which a client has to trust. */
  ca: Promise<string>
  /** The certificate of a front: for its names under localhost, localhost itself, 127.0.0.1 and ::1. */
  credentials: Promise<{ key: string; cert: string }>
}

export interface FrontOptions {
  /** A free port unless given. */
  port?: number
  authority: FrontAuthority
  /** How long an agent may send nothing before the front responds with 504. Source: I-durations. */
  timeoutMs?: number
}

export interface Front {
  readonly port: number
  /** Resolves when it has its certificate. Until then connections wait, and their time goes by. */
  readonly ready: Promise<void>
  /**
   * Passes what arrives for `https://<name>.localhost` to this URL, with its path and query. Returns the webhook URL of
   * that name. `localhost` is a name too. Throws if the target is not plain HTTP on this machine.
   */
  route(name: string, target: string): string
  close(): Promise<void>
}

interface Made {
  ca: string
  key: string
  cert: string
}

/**
 * Creates a certificate authority in a thread, so that nothing waits for it, and only once the names under localhost are
 * known. Each name is in the certificate, because clients refuse `*.localhost`: a wildcard may not stand for all of a
 * top-level domain. It lives in memory and changes no trust store.
 */
export function createFrontAuthority(names: Promise<readonly string[]> = Promise.resolve([])): FrontAuthority {
  const made = names.then(makeCertificates)
  // Users of the authority still get the error. If nobody uses it, it must not end the process.
  made.catch(() => {})
  const ca = made.then(all => all.ca)
  const credentials = made.then(({ key, cert }) => ({ key, cert }))
  ca.catch(() => {})
  credentials.catch(() => {})
  return { ca, credentials }
}

/**
 * Listens on 127.0.0.1 at once; connections wait until the certificate is ready. Requests and responses pass through
 * unchanged. Responds with 502 if the agent is not up, and with 504 if it sends nothing. Throws if the port is in use.
 */
export async function startFront({ port = 0, authority, timeoutMs = 30_000 }: FrontOptions): Promise<Front> {
  const targets = new Map<string, URL>()
  // Closes idle connections before a usual agent would, so that no request is sent on a closing one.
  const agent = new http.Agent({ keepAlive: true, timeout: 1_000 })
  const sockets = new Set<net.Socket>()
  let server: https.Server | undefined
  let closed = false

  // Paused, so that the first bytes stay in the kernel until TLS reads them.
  const door = net.createServer({ pauseOnConnect: true, noDelay: true }, socket => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    server?.emit('connection', socket)
  })
  await listening(door, port)
  const { port: bound } = door.address() as net.AddressInfo

  async function open(credentials: { key: string; cert: string }): Promise<void> {
    const { createServer } = await import('node:https') // loaded late, so that a start does not wait for it
    if (closed) return
    server = createServer({ ...credentials, requestTimeout: 0 }, (request, answer) => {
      const name = nameIn(request.headers.host)
      const target = targets.get(name)
      if (target) forward(request, answer, { target, agent, timeoutMs })
      else refuse(answer, 404, 'refused', `No agent is called ${name} here.`)
    })
    for (const socket of sockets) server.emit('connection', socket)
  }

  async function close(): Promise<void> {
    closed = true
    const gone = new Promise<void>(resolve => door.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    agent.destroy()
    await gone
  }

  const ready = authority.credentials.then(open, close)
  return {
    port: bound,
    ready,
    route(name, target) {
      targets.set(name, loopbackTarget(target))
      return `https://${name === 'localhost' ? name : `${name}.localhost`}:${bound}/webhook`
    },
    close,
  }
}

/** Returns the name of a Host header such as `my-agent.localhost:4443`. */
const nameIn = (host = '') => host.toLowerCase().replace(/(?:\.localhost)?(?::\d+)?$/, '')

interface Route {
  target: URL
  agent: http.Agent
  timeoutMs: number
}

function forward(request: http.IncomingMessage, answer: http.ServerResponse, { target, agent, timeoutMs }: Route) {
  const { hostname, host, port, pathname, search } = target
  const onward = http.request({
    agent,
    lookup,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port || 80,
    method: request.method,
    path: pathname + search,
    headers: withHost(endToEnd(request.rawHeaders), host),
    timeout: timeoutMs,
  })
  onward.on('timeout', () => onward.destroy(new Silence(timeoutMs)))
  onward.on('response', reply => {
    answer.writeHead(reply.statusCode!, reply.statusMessage, endToEnd(reply.rawHeaders))
    reply.on('error', () => answer.destroy())
    reply.pipe(answer)
  })
  onward.on('error', error => giveUp(answer, target, error))
  request.on('error', () => onward.destroy())
  answer.on('close', () => onward.destroy())
  request.pipe(onward)
}

// Some systems do not resolve names under localhost, and some agents listen on ::1 alone.
const LOCAL = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/**
 * Looks up the name of a target, which can only mean this machine.
 */
export const lookup: net.LookupFunction = (_name, { all }, done) =>
  all ? done(null, LOCAL) : done(null, LOCAL[0]!.address, LOCAL[0]!.family)

class Silence extends Error {
  constructor(timeoutMs: number) {
    super(`gave no answer within ${timeoutMs / 1000} seconds`)
  }
}

function giveUp(answer: http.ServerResponse, { origin }: URL, error: Error & { code?: string }): void {
  if (answer.headersSent || answer.destroyed) return void answer.destroy()
  if (error instanceof Silence) refuse(answer, 504, 'timeout', `The agent at ${origin} ${error.message}.`)
  else if (error.code === 'ECONNREFUSED') refuse(answer, 502, 'refused', `Nothing listens at ${origin}.`)
  else refuse(answer, 502, 'reset', `The agent at ${origin} closed the connection without a whole answer.`)
}

// Hop-by-hop headers are not passed on. All others pass unchanged and in their order.
const HOP_BY_HOP = /^(?:connection|keep-alive|proxy-connection|proxy-authenticate|te|trailer|upgrade|expect)$/i

function endToEnd(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !HOP_BY_HOP.test(raw[at - (at % 2)]!) && !isOwnHeader(raw[at - (at % 2)]!))
}

/** The agent gets the Host of its own address, as some refuse any other. */
const withHost = (raw: readonly string[], host: string) =>
  raw.map((value, at) => (at % 2 === 1 && /^host$/i.test(raw[at - 1]!) ? host : value))

function loopbackTarget(target: string): URL {
  const url = URL.canParse(target) ? new URL(target) : undefined
  if (url?.protocol === 'http:' && isLoopback(url.hostname)) return url
  throw new Error(`The address of an agent must be http:// on this machine, not ${target}.`)
}

function listening(server: net.Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}

// Loading the certificate library blocks a thread for a fifth of a second, which is too long for the main thread.
function makeCertificates(names: readonly string[]): Promise<Made> {
  const module = createRequire(import.meta.url).resolve('selfsigned')
  const worker = new Worker(CERTIFICATE_THREAD, { eval: true, workerData: { module, names }, execArgv: [] })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('No certificate could be made for the HTTPS front.')))
  })
}

const CERTIFICATE_THREAD = `
const { parentPort, workerData } = require('node:worker_threads')
const { createHash, generateKeyPairSync } = require('node:crypto')
const { generate } = require(workerData.module)
const common = { keyType: 'ec', algorithm: 'sha256' }
const name = value => [{ name: 'commonName', value }]
async function make() {
  const keyPair = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  // Each authority has its own name, because OpenSSL finds an issuer by its name.
  const mark = createHash('sha256').update(keyPair.publicKey).digest('hex').slice(0, 12)
  const authority = await generate(name('Agent Marketplace local ' + mark), { ...common, keyPair, extensions: [
    { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ] })
  const ca = { key: authority.private, cert: authority.cert }
  const leaf = await generate(name('localhost'), { ...common, ca, extensions: [
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: [
      { type: 2, value: 'localhost' }, ...workerData.names.map(name => ({ type: 2, value: name + '.localhost' })),
      { type: 7, ip: '127.0.0.1' }, { type: 7, ip: '::1' },
    ] },
  ] })
  parentPort.postMessage({ ca: authority.cert, key: leaf.private, cert: leaf.cert })
}
make()
`
