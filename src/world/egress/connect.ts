/** Opens one connection. Its address is checked before any byte is sent. Source: A-42. */
import { once } from 'node:events'
import net from 'node:net'
import type { SecureContext } from 'node:tls'
import type { OutgoingFailure } from '../world.ts'
import { type AddressRule, addressFault, isLocalName, isLoopback, type Resolved } from './addresses.ts'
import { connectToAny } from './happy-eyeballs.ts'
import { isOwnFault, type Lookup } from './names.ts'

export interface Destination {
  secure: boolean
  /** A name or an IP literal, without brackets. */
  hostname: string
  port: number
}

export interface ConnectOptions extends AddressRule {
  lookup: Lookup
  account?: string | undefined
  /** The authorities that TLS trusts. */
  trust(): Promise<SecureContext>
  /** The TLS session of an earlier connection to the same origin, to resume it. `keepSession` gets the next one. */
  session?: Buffer | undefined
  keepSession?(session: Buffer): void
}

/** Why a connection could not be opened. The message is for people. */
export class ConnectError extends Error {
  readonly reason: OutgoingFailure
  /** A failure of our own network looks the same. */
  readonly unclear: boolean
  constructor(reason: OutgoingFailure, message: string, unclear = false) {
    super(message)
    this.reason = reason
    this.unclear = unclear
  }
}

export interface Attempt {
  /** Rejects with a ConnectError. */
  socket: Promise<net.Socket>
  /** Aborts the attempt; `socket` then rejects with `why`. Has no effect on an open connection. */
  cancel(why: ConnectError): void
}

/** Long enough for any honest server. The deadline of the request applies too. */
const CONNECT_TIMEOUT_MS = 10_000

/** Looks the name up once, checks every address, connects to one of them, and checks the address of the peer again. */
export function openConnection(to: Destination, options: ConnectOptions): Attempt {
  const opening = new AbortController()
  const timer = setTimeout(() => opening.abort(timedOut(to)), CONNECT_TIMEOUT_MS)
  const socket = open(to, options, opening.signal).catch(error => {
    throw opening.signal.aborted ? opening.signal.reason : error
  })
  const clear = () => clearTimeout(timer)
  socket.then(clear, clear)
  return { socket, cancel: why => opening.abort(why) }
}

async function open(to: Destination, options: ConnectOptions, signal: AbortSignal): Promise<net.Socket> {
  const addresses = await orAborted(checkedAddresses(to.hostname, options), signal)
  const tcp = await connectToAny(addresses, to.port, signal).catch(error => Promise.reject(connectFault(error, to)))
  const giveUp = () => tcp.destroy()
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    signal.throwIfAborted()
    const { remoteAddress } = tcp
    if (remoteAddress === undefined) throw cutOff(to) // closed already
    const fault = addressFault(remoteAddress, options)
    if (fault) throw forbidden(`The address ${remoteAddress}`, fault, options)
    tcp.setKeepAlive(true, 60_000)
    return to.secure ? await orAborted(secured(tcp, to, options), signal) : tcp
  } catch (error) {
    tcp.destroy()
    throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

async function checkedAddresses(hostname: string, options: ConnectOptions): Promise<readonly Resolved[]> {
  const literal = net.isIP(hostname)
  const addresses = literal ? [{ address: hostname, family: literal }] : await resolve(hostname, options)
  for (const { address } of addresses) {
    const fault = addressFault(address, options)
    if (fault && literal) throw forbidden(`The address ${address}`, fault, options)
    if (fault) throw forbiddenName(hostname, fault, options)
  }
  return addresses
}

async function resolve(hostname: string, options: ConnectOptions): Promise<readonly Resolved[]> {
  let absent = true
  try {
    const addresses = await options.lookup(hostname, options.account)
    if (addresses.length > 0) return addresses
  } catch (error) {
    const code = codeOf(error)
    if (isOwnFault(code)) throw ownFault('look up no name', code)
    absent = code === 'ENOTFOUND' || code === 'ENODATA'
    if (!absent) throw new ConnectError('dns', `The name ${hostname} could not be looked up (${code}).`, true)
  }
  throw options.allowLoopback
    ? new ConnectError('dns', `The name ${hostname} has no address.`)
    : nothingPublic(hostname)
}

async function secured(tcp: net.Socket, to: Destination, options: ConnectOptions): Promise<net.Socket> {
  const secureContext = await options.trust().catch(error => {
    throw ownFault('read no list of trusted authorities', codeOf(error))
  })
  try {
    // Loaded with the context.
    const { default: tls } = await import('node:tls')
    const secure = tls.connect({
      socket: tcp,
      host: to.hostname,
      servername: net.isIP(to.hostname) ? '' : to.hostname,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      ...(options.session && { session: options.session }),
    })
    secure.on('error', ignore)
    secure.on('session', session => options.keepSession?.(session))
    await once(secure, 'secureConnect')
    return secure
  } catch (error) {
    throw tlsFault(error, to.hostname)
  }
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function forbidden(what: string, fault: string, rule: AddressRule): ConnectError {
  const allowed = rule.allowLoopback ? 'public addresses and this machine' : 'public addresses'
  return new ConnectError('private_address', `${what} is ${fault}; webhooks go to ${allowed} only.`)
}

/**
 * Does not say to what a private name resolves, nor whether it exists. Otherwise builders could explore the names of this
 * network.
 */
function forbiddenName(hostname: string, fault: string, rule: AddressRule): ConnectError {
  const isKnown = rule.allowLoopback || isLocalName(hostname)
  return isKnown ? forbidden(`An address of ${hostname}`, fault, rule) : nothingPublic(hostname)
}

const nothingPublic = (hostname: string) =>
  new ConnectError('dns', `The name ${hostname} has no public address; webhooks go to public addresses only.`)

const ownFault = (what: string, code: string) =>
  new ConnectError('own_fault', `The marketplace itself could ${what} (${code}); this says nothing about the agent.`)

function connectFault(error: unknown, to: Destination): ConnectError {
  if (error instanceof ConnectError) return error
  const where = `${to.hostname} port ${to.port}`
  if (codeOf(error) === 'ECONNREFUSED') return new ConnectError('refused', `Nothing listens at ${where}.`)
  if (codeOf(error) === 'ETIMEDOUT') return timedOut(to)
  if (codeOf(error) === 'ECONNRESET') return cutOff(to)
  if (OWN_FAULTS.has(codeOf(error))) return ownFault('open no connection', codeOf(error))
  return new ConnectError('refused', `There is no way to ${where} (${codeOf(error)}).`, !isLoopback(to.hostname))
}

/** No file descriptor, memory, port or network on this machine, or a firewall of our own that refuses. */
const OWN_FAULTS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'ENETDOWN', 'EPERM', 'EACCES'])

function tlsFault(error: unknown, host: string): ConnectError {
  const code = codeOf(error)
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return new ConnectError('reset', `${host} closed the connection before TLS was agreed.`)
  }
  return new ConnectError('tls', CERTIFICATE_FAULTS[code]?.(host) ?? `TLS with ${host} failed (${code}).`)
}

const untrusted = (host: string) =>
  `The certificate of ${host} comes from an authority that is not trusted here; NODE_EXTRA_CA_CERTS can name one.`

const CERTIFICATE_FAULTS: Record<string, (host: string) => string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: host => `The certificate of ${host} has expired.`,
  CERT_NOT_YET_VALID: host => `The certificate of ${host} is not valid yet.`,
  ERR_TLS_CERT_ALTNAME_INVALID: host => `The certificate is not made out to ${host}.`,
}

function cutOff(to: Destination): ConnectError {
  return new ConnectError('reset', `The connection to ${to.hostname} port ${to.port} was cut off.`)
}

function timedOut(to: Destination): ConnectError {
  const message = `${to.hostname} port ${to.port} took no connection in time.`
  return new ConnectError('timeout', message, !isLoopback(to.hostname))
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : 'no code'
}

function ignore(): void {}
