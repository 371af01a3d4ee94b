/**
 * Reads the credential of a request, and decides by the endpoint's record whether its account may call. Source,
 *
 */
import type { IncomingMessage } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { Endpoint } from '../api/endpoint.ts'
import { refuse } from '../api/failures.ts'
import { durations } from '../api/limits.ts'
import type { Actor } from '../market/market.ts'
import { refuseUnlessMay } from '../market/permission.ts'
import type { Config } from '../settings/config.ts'
import type { Reader } from '../store/db.ts'

/** Finds the account of a credential. Resolves to null if the credential is unknown, expired or deleted. */
export interface Authenticate {
  key(q: Reader, bearer: string): Promise<Actor | null>
  session(q: Reader, cookie: string): Promise<Actor | null>
}

/** `value` is null for a malformed key, which counts as a bad key and not as none. */
export type Credential = { kind: 'key'; value: string | null } | { kind: 'session'; value: string }

/** Another scheme is no key: a proxy may have asked for `Basic …`. */
const OTHER_SCHEME = /^(?!bearer\b)[a-z][a-z0-9-]* +\S/i
const BEARER = /^bearer +(svc_[\x21-\x7e]{1,250})$/i
const LOOPBACK = /^(?:(?:[a-z0-9_-]+\.)*localhost|127\.0\.0\.1|\[::1\])(?::(\d{0,5}))?$/i

export const isHttps = (config: Config) => config.baseUrl.startsWith('https:')
const cookieName = (config: Config) => (isHttps(config) ? '__Host-session' : 'session')

export const isLoopbackHost = (host: string) => LOOPBACK.test(host)

/** Returns the value of a header if it came exactly once. Node itself would drop or join repeated ones. */
export function onlyHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let found: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i]!
    if (given.length !== name.length || given.toLowerCase() !== name) continue
    if (found !== undefined) return undefined
    found = rawHeaders[i + 1]
  }
  return found
}

export function readCredential(req: IncomingMessage, config: Config): Credential | null {
  const { authorization, cookie } = req.headers
  if (authorization !== undefined && !OTHER_SCHEME.test(authorization)) {
    const key = BEARER.exec(onlyHeader(req, 'authorization') ?? '')?.[1]
    return { kind: 'key', value: key?.startsWith('svc_') ? key : null }
  }
  if (cookie === undefined) return null
  const value = parseCookie(cookie)[cookieName(config)]
  return value ? { kind: 'session', value } : null
}

/** Whether the request was sent by a page of another site. */
export function isCrossSite(req: IncomingMessage, config: Config): boolean {
  const site = req.headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const { origin } = req.headers
  if (origin === undefined) return false
  if (URL.canParse(config.baseUrl) && origin === new URL(config.baseUrl).origin) return false
  if (config.mode !== 'dev') return true
  const host = /^http:\/\/(.+)$/i.exec(origin)?.[1]
  const match = host === undefined ? null : LOOPBACK.exec(host)
  return !match || Number(match[1] || 80) !== req.socket.localPort
}

/** Whether the request was surely sent by a page of this site: a browser says where each form comes from. */
export const isSameSite = (req: IncomingMessage, config: Config) =>
  (req.headers['sec-fetch-site'] ?? req.headers.origin) !== undefined && !isCrossSite(req, config)

const HERE = /^(?:::1$|(?:::ffff:)?127\.)/
const PASSED_ON = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

/** Whether a program of this machine has sent the request itself, or a page of this marketplace. */
export const isNear = (req: IncomingMessage, config: Config): boolean =>
  HERE.test(req.socket.remoteAddress ?? '') && !PASSED_ON.some(name => name in req.headers) && !isCrossSite(req, config)

/** Refuses what can be refused without the database. */
export function checkCredential({ auth }: Endpoint, credential: Credential | null) {
  if (auth === 'public' || auth === 'signature') return
  if (auth === 'key') {
    if (credential?.kind !== 'key' || credential.value === null) throw refuse('key_needed')
  } else if (credential === null || credential.value === null) throw refuse('not_authenticated')
}

/**
 * Returns the account of the credential if it may call this endpoint, else refuses. Runs inside the unit that serves the
 * request. `known` is called before the endpoint's rules are checked, so that the log names the account that is refused.
 */
export async function admit(
  record: Endpoint,
  credential: Credential | null,
  authenticate: Authenticate,
  q: Reader,
  known: (actor: Actor) => void = () => {},
): Promise<Actor | null> {
  if (credential === null || credential.value === null) return null
  const actor = await authenticate[credential.kind](q, credential.value)
  if (actor === null) {
    if (record.auth === 'public') return null
    throw refuse(record.auth === 'key' ? 'key_needed' : 'not_authenticated')
  }
  known(actor)
  if (record.auth === 'session' && credential.kind === 'key') throw refuse('session_needed')
  // A browser that still holds a banned account's cookie can sign in to another account.
  if (actor.user.banned && record.auth === 'public' && record.sets === 'session') return null
  refuseUnlessMay(record, actor.user)
  return actor
}

/** Returns the Set-Cookie header that starts a session, or ends it (null). */
export const sessionCookie = (config: Config, session: string | null) =>
  stringifySetCookie({
    name: cookieName(config),
    value: session ?? '',
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    maxAge: session === null ? 0 : durations.session.absoluteMs / 1000,
    secure: isHttps(config),
  })
