/** Pages for people: HTML that the server makes, whole without scripts. */
import { createHash } from 'node:crypto'
import type { Html } from '../shared/html.ts'
import { LARGE_BYTES } from './bodies/unread-responses.ts'
import { sessionCookie } from './credentials.ts'
import { type Call, HTML_TYPE } from './response.ts'
import { inSlices } from './slices.ts'

/** What a page lets a browser do: nothing from other origins, nothing inline, no script, no framing. */
export const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // For no script, as there is none: whoever checks a page in a browser reads /robots.txt in its name.
    "connect-src 'self'",
  ].join('; '),
  // With no referrer at all, a browser would not say where a form comes from.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const

interface Given {
  readonly body?: string | Html
  readonly type?: string
  readonly status?: number | undefined
  /** Whom it is made for: what only one account sees must not be kept for others. */
  readonly isPrivate?: boolean
  /** Where the browser goes instead. */
  readonly location?: string
  /** Begins a session, or ends it (null). */
  readonly session?: string | null
}

/** What a verb returns whose response is a page. */
export class SentPage {
  readonly given: Given

  constructor(given: Given) {
    this.given = given
  }
}

/** After a form, a browser asks for this address with GET. */
export const seeOther = (location: string, more: Pick<Given, 'session'> = {}) =>
  new SentPage({ ...more, status: 303, type: 'text/plain; charset=utf-8', body: `${location}\n`, location })

/**
 * Nothing of a page is ever stale: a browser may keep it, and asks each time whether it is still the same. The response to HEAD
 * has no length and no tag, because nothing is made for it.
 */
export async function sendPage(call: Call, { given }: SentPage): Promise<void> {
  const { body = '', type = HTML_TYPE, status = 200, isPrivate = false, location, session } = given
  const { req } = call
  const isKept = status === 200 && req.method !== 'POST'
  const headers = {
    ...pageHeaders,
    // A form that was refused is shown again by Back, too: else the browser would ask whether to send it once more.
    ...((isKept || location === undefined) && {
      vary: 'cookie',
      'cache-control': isPrivate || !isKept ? 'private, no-cache' : 'no-cache',
    }),
    ...(location !== undefined && { location }),
    ...(session !== undefined && { 'set-cookie': sessionCookie(call.server.market.config, session) }),
  }
  if (req.method === 'HEAD') return call.head(status, type, headers)
  const made = typeof body === 'string' ? body : await inSlices(call, body)
  if (!isKept) return call.page(status, type, made, headers)
  if (typeof made === 'string' && made.length > LARGE_BYTES) call.reserveBytes(Buffer.byteLength(made))
  const etag = tagOf(typeof made === 'string' ? [made] : made)
  const isSame = (req.headers['if-none-match'] ?? '').split(/\s*,\s*/).includes(etag)
  call.page(isSame ? 304 : status, type, isSame ? '' : made, { ...headers, etag })
}

function tagOf(slices: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const slice of slices) hash.update(slice)
  return `"${hash.digest('base64url').slice(0, 22)}"`
}
