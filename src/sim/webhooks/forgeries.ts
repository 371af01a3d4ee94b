/**
 * Webhooks that a right agent refuses. Each is a genuine one with one thing changed, in both sets of signature headers, as an
 * agent may verify either. Source: I-signature, I-timestamp.
 */
import { createHash, createHmac } from 'node:crypto'
import { durations } from '../../api/limits.ts'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../api/signature.ts'
import { type WebhookAttempt, webhookHeaders } from '../../api/webhook-request.ts'

export interface Forgery {
  readonly name: string
  /** What is wrong with the webhook. */
  readonly does: string
  /** What a right agent does: it refuses, or, if nothing distinguishes the request from a genuine one, it works only once. */
  readonly right: 'answers 401' | 'works once'
  forge(genuine: Genuine): Forged
}

interface Genuine extends WebhookAttempt {
  secret: string
}

interface Forged {
  body: string
  headers: Record<string, string>
}

// Beyond the tolerance by two minutes, so that clocks that differ by less decide nothing.
const TOO_FAR_MS = durations.signatureToleranceMs + 120_000
const DAY_MS = 24 * durations.hourMs

const signed = ({ secret, ...attempt }: Genuine): Forged => ({
  body: attempt.body,
  headers: webhookHeaders(secret, attempt),
})

const refused = (name: string, does: string, forge: Forgery['forge']): Forgery => ({
  name,
  does,
  right: 'answers 401',
  forge,
})

/** Signs with another secret or at another time, or sends another body. */
const otherwise = (name: string, does: string, change: (genuine: Genuine) => Partial<Genuine>) =>
  refused(name, does, genuine => signed({ ...genuine, ...change(genuine) }))

const afterSigning = (name: string, does: string, change: (body: string) => string) =>
  refused(name, does, genuine => ({ ...signed(genuine), body: change(genuine.body) }))

/** Takes the place of headers; undefined removes one. */
const withHeaders = (
  name: string,
  does: string,
  change: (headers: Record<string, string>, genuine: Genuine) => Record<string, string | undefined>,
) =>
  refused(name, does, genuine => {
    const { body, headers } = signed(genuine)
    const all = { ...headers, ...change(headers, genuine) }
    const present = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined)
    return { body, headers: Object.fromEntries(present) }
  })

/** Changes both digests in the same way: the hex one, and the base64 one behind its `v1,`. */
const digests = (name: string, does: string, change: (digest: string) => string) =>
  withHeaders(name, does, headers => ({
    [SIGNATURE_HEADER]: change(headers[SIGNATURE_HEADER]!),
    'webhook-signature': `v1,${change(headers['webhook-signature']!.slice(3))}`,
  }))

/** Computes both digests over another text or by another algorithm. `head` is what precedes the body. */
const computed = (name: string, does: string, digestOf: (key: string | Buffer, head: string, body: string) => Buffer) =>
  withHeaders(name, does, (headers, { secret, body }) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    const head = `${headers['webhook-id']}.${headers['webhook-timestamp']}`
    return {
      [SIGNATURE_HEADER]: digestOf(secret, headers[TIMESTAMP_HEADER]!, body).toString('hex'),
      'webhook-signature': `v1,${digestOf(key, head, body).toString('base64')}`,
    }
  })

/** Writes the time in another way, and signs that. */
const timed = (name: string, does: string, written: (ms: number) => readonly [service: string, standard: string]) =>
  withHeaders(name, does, (_headers, { secret, sentAt, body, deliveryId }) => {
    const [service, standard] = written(sentAt)
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    const hmac = (by: string | Buffer, text: string) => createHmac('sha256', by).update(text).digest()
    return {
      [TIMESTAMP_HEADER]: service,
      [SIGNATURE_HEADER]: hmac(secret, `${service}.${body}`).toString('hex'),
      'webhook-timestamp': standard,
      'webhook-signature': `v1,${hmac(key, `${deliveryId}.${standard}.${body}`).toString('base64')}`,
    }
  })

const hmac = (algorithm: string, key: string | Buffer, text: string) => createHmac(algorithm, key).update(text).digest()
const otherEnd = (digest: string) => {
  const last = digest.replace(/=+$/, '').length - 1
  return `${digest.slice(0, last)}${digest[last] === '0' ? 'a' : '0'}${digest.slice(last + 1)}`
}

const none = { [SIGNATURE_HEADER]: undefined, 'webhook-signature': undefined }
const never = { [TIMESTAMP_HEADER]: undefined, 'webhook-timestamp': undefined }

export const forgeries: readonly Forgery[] = [
  otherwise('wrong-secret', "signs with a secret that is not the agent's", ({ secret }) => ({
    secret: `whsec_${createHash('sha256').update(secret).digest('base64')}`,
  })),
  otherwise('empty-secret', 'signs with an empty secret, as an agent has whose setting is missing', () => ({
    secret: '',
  })),
  otherwise(
    'undefined-secret',
    'signs with the word "undefined", as an agent may have whose setting is missing',
    () => ({
      secret: 'undefined',
    }),
  ),
  otherwise('null-secret', 'signs with the word "null", for the same reason', () => ({ secret: 'null' })),
  withHeaders('no-signature', 'leaves the signature out', () => none),
  withHeaders('no-timestamp', 'leaves the timestamp out', () => never),
  withHeaders('no-headers', 'leaves signature and timestamp out', () => ({ ...none, ...never })),
  withHeaders('empty-headers', 'sends signature and timestamp empty', () => ({
    [SIGNATURE_HEADER]: '',
    'webhook-signature': '',
    [TIMESTAMP_HEADER]: '',
    'webhook-timestamp': '',
  })),
  otherwise('old-timestamp', 'is signed 7 minutes ago', ({ sentAt }) => ({ sentAt: sentAt - TOO_FAR_MS })),
  otherwise('day-old', 'is signed a day ago', ({ sentAt }) => ({ sentAt: sentAt - DAY_MS })),
  otherwise('future-timestamp', 'is signed 7 minutes ahead', ({ sentAt }) => ({ sentAt: sentAt + TOO_FAR_MS })),
  timed('seconds', 'has its time in seconds, and signs that', ms => [String(Math.floor(ms / 1000)), String(ms)]),
  timed('no-number', 'has the time "NaN", and signs that', () => ['NaN', 'NaN']),
  timed('empty-time', 'has an empty time, and signs that', () => ['', '']),
  timed('letters-time', 'has the time "abc", and signs that', () => ['abc', 'abc']),
  withHeaders('moved-timestamp', 'moves the timestamp after signing', (_headers, { sentAt }) => ({
    [TIMESTAMP_HEADER]: String(sentAt + 1),
    'webhook-timestamp': String(Math.floor(sentAt / 1000) + 1),
  })),
  afterSigning('changed-byte', 'changes one byte of the body after signing', body =>
    body.replace(/("agreedPrice":\s*)(\d)/, (_, field, digit) => `${field}${(Number(digit) % 9) + 1}`),
  ),
  afterSigning('added-newline', 'adds a newline to the body after signing', body => `${body}\n`),
  afterSigning('other-spelling', 'signs the body, and sends the same JSON with other spaces', body =>
    JSON.stringify(JSON.parse(body), null, 2),
  ),
  digests('other-digit', 'changes the last digit of the signature', otherEnd),
  digests('half-right', 'has only the first half of the signature right', digest => {
    const half = digest.slice(0, digest.length / 2)
    return half + [...digest.slice(half.length)].map(digit => (digit === '0' ? '1' : '0')).join('')
  }),
  digests('short', 'cuts the signature short', digest => digest.slice(0, -4)),
  digests('longer', 'has more digits behind the right signature', digest => `${digest}00`),
  digests('letters-behind', 'has letters behind the right signature', digest => `${digest}zz`),
  digests('three-digits', 'has a signature of three digits', digest => digest.slice(0, 3)),
  digests('no-digest', 'has 64 letters that are no hex digits', digest => 'z'.repeat(digest.length)),
  digests('long', 'has a signature of 4,000 digits', digest => digest.repeat(4_000 / 40).slice(0, 4_000)),
  computed('body-alone', 'signs the body without the timestamp', (key, _head, body) => hmac('sha256', key, body)),
  computed('no-dot', 'signs timestamp and body without the dot between them', (key, head, body) =>
    hmac('sha256', key, head + body),
  ),
  computed('other-algorithm', 'signs with SHA-512', (key, head, body) => hmac('sha512', key, `${head}.${body}`)),
  computed('no-key', 'has a plain SHA-256 of timestamp and body', (_key, head, body) =>
    createHash('sha256').update(`${head}.${body}`).digest(),
  ),
  digests(
    'two-signatures',
    'has a wrong signature and the right one in one header',
    digest => `${otherEnd(digest)}, ${digest}`,
  ),
  {
    name: 'replay',
    does: 'sends a genuine webhook twice, the second time with another delivery id',
    right: 'works once',
    forge: signed,
  },
]
