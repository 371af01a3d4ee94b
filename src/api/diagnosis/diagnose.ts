/**
 * Says why a signature is refused: recomputes it in the ways in which people get it wrong, until one matches. Pure. A diagnosis
 * has no secret and no digest in it. Source.
 */
import { timingSafeEqual } from 'node:crypto'
import { limits } from '../limits.ts'
import { SIGNATURE_HEADER, standardHeaders } from '../signature.ts'
import { bodiesOf, timesIn } from './bodies.ts'
import type { Diagnosis, Flaw, Form, Forms } from './causes.ts'
import { ageFlaws } from './clock.ts'
import { type Digest, digestsOf, readDigest } from './digests.ts'
import { type HeaderLines, headerValue, signatureIn, timestampIn } from './headers.ts'
import { type Layout, layoutsOf, readStamp, type Stamp } from './layouts.ts'
import { type Candidate, type Key, keysOf } from './secrets.ts'
import { type SignedForms, signedForms } from './signed-forms.ts'
import { sure, unexplained } from './verdicts.ts'

export type { Diagnosis } from './causes.ts'
export type { Candidate } from './secrets.ts'

export interface SignedRequest {
  readonly headers: HeaderLines
  /** The raw bytes as they arrived, before any parsing. */
  readonly body: Uint8Array
}

/**
 * Returns why the request is refused, or null if its signature is right. `now`: real time in ms. `earlierAges`: how old
 * earlier requests of the sender were when they came, in ms.
 */
export function diagnose(
  request: SignedRequest,
  candidates: readonly Candidate[],
  now: number,
  earlierAges: readonly number[] = [],
): Diagnosis | null {
  const signature = signatureIn(request.headers)
  const timestamp = timestampIn(request.headers)
  const headers = [...timestamp.flaws, ...signature.flaws]
  const standard = signature.value === undefined && isStandard(request, candidates)
  if (standard) headers.unshift(STANDARD)
  if (signature.value === undefined || timestamp.value === undefined) return sure(headers)
  const sent = sentSecret(signature.value, candidates)
  if (sent) return sure([...headers, sent])
  const digest = readDigest(signature.value)
  if (!digest) return sure([...headers, malformed(signature.value)])
  const stamp = readStamp(timestamp.value)
  const seen = [...headers, ...stamp.flaws, ...digest.flaws]
  const found = search(request, candidates, { stamp, digest: digest.value })
  const age = ageFlaws(stamp.ms, now, earlierAges)
  if (found.flaws) return sure([...found.flaws, ...seen, ...age])
  return unexplained({ seen: [...seen, ...age], request, candidates, tries: found.tries })
}

/** What the request has signed beside what it should have; null if that was not found, or is the same. */
export function formsOf(request: SignedRequest, candidates: readonly Candidate[]): SignedForms | null {
  const [signature, timestamp] = [signatureIn(request.headers).value, timestampIn(request.headers).value]
  const digest = signature === undefined ? null : readDigest(signature)
  if (timestamp === undefined || !digest) return null
  const { signed } = search(request, candidates, { stamp: readStamp(timestamp), digest: digest.value })
  return signed && formsBeside(signed, timestamp, request.body)
}

/** The same of any text that was signed. */
export function formsBeside(signed: Uint8Array, timestamp: string, body: Uint8Array): SignedForms | null {
  const right = `${timestamp}.${Buffer.from(body).toString()}`
  const sent = Buffer.from(signed).toString()
  return sent === right ? null : signedForms(sent, right)
}

const STANDARD: Flaw = {
  cause: 'standard_webhooks',
  text: 'It is signed rightly, but with the headers of Standard Webhooks (webhook-signature).',
}

function isStandard({ headers, body }: SignedRequest, candidates: readonly Candidate[]): boolean {
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name =>
    headerValue(headers, name),
  )
  if (id === undefined || !/^\d{9,10}$/.test(timestamp ?? '') || signature === undefined) return false
  const given = signature.split(' ')
  const made = candidates
    .filter(({ kind }) => kind === 'current')
    .map(({ secret }) => standardHeaders(secret, id, Number(timestamp) * 1000, body)['webhook-signature'])
  return made.some(one => given.includes(one))
}

function sentSecret(value: string, candidates: readonly Candidate[]): Flaw | null {
  const plain = value.replace(/^bearer /i, '')
  if (candidates.some(({ secret }) => secret === plain)) {
    return { cause: 'secret_sent', text: `${SIGNATURE_HEADER} is the secret itself.` }
  }
  if (/^(?:whsec_|svc_)/.test(plain)) {
    return { cause: 'secret_sent', text: `${SIGNATURE_HEADER} is a secret or an API key, and no digest.` }
  }
  return null
}

const malformed = (value: string): Flaw => ({
  cause: 'malformed_signature',
  text: `${SIGNATURE_HEADER} is not 64 lower-case hex digits: it has ${value.length} characters.`,
})

/** A search ends after so many recomputations, and after so many hashed bytes. */
const MOST_TRIES = 4_096
const MOST_BYTES = 64 * limits.jsonBytes

interface Sought {
  readonly stamp: Stamp
  readonly digest: Buffer
}

/** `flaws` is null if nothing matches. */
interface SearchResult {
  readonly flaws: readonly Flaw[] | null
  /** The text that was signed. */
  readonly signed: Buffer | null
  readonly tries: number
}

function search({ headers, body }: SignedRequest, candidates: readonly Candidate[], sought: Sought): SearchResult {
  const raw = Buffer.from(body)
  let tries = 0
  let bytes = 0
  const parts = {
    keys: keysOf(candidates),
    layouts: layoutsOf(sought.stamp, { ids: idsIn(headers), times: timesIn(raw) }),
    bodies: bodiesOf(raw),
    digests: digestsOf(sought.digest.length),
  }
  for (const { key, layout, signed, digest } of combinations(parts)) {
    if (tries === MOST_TRIES || bytes > MOST_BYTES) break
    tries++
    bytes += signed.value.length
    const { head, tail } = layout.value
    if (!timingSafeEqual(digest.value(key.value, [head, signed.value, tail]), sought.digest)) continue
    const text = Buffer.concat([Buffer.from(head), signed.value, Buffer.from(tail)])
    return { flaws: [key, layout, signed, digest].flatMap(({ flaws }) => flaws), signed: text, tries }
  }
  return { flaws: null, signed: null, tries }
}

const idsIn = (headers: HeaderLines) =>
  ['webhook-id', 'x-service-delivery-id'].flatMap(name => headerValue(headers, name) ?? [])

interface Parts {
  readonly keys: Forms<Key>
  readonly layouts: Forms<Layout>
  readonly bodies: Forms<Buffer>
  readonly digests: Forms<Digest>
}

interface Combination {
  readonly key: Form<Key>
  readonly layout: Form<Layout>
  readonly signed: Form<Buffer>
  readonly digest: Form<Digest>
}

type Plan = readonly [
  keys: keyof Forms<Key>,
  layouts: keyof Forms<Layout>,
  bodies: 'right' | 'wrong',
  digests: 'right' | 'wrong',
]

/** First without a mistake, then with one, then with two. What is rare is tried before two mistakes, and never with another. */
const plans: readonly Plan[] = [
  ['right', 'right', 'right', 'right'],
  ['wrong', 'right', 'right', 'right'],
  ['right', 'wrong', 'right', 'right'],
  ['right', 'right', 'wrong', 'right'],
  ['right', 'right', 'right', 'wrong'],
  ['rare', 'right', 'right', 'right'],
  ['right', 'rare', 'right', 'right'],
  ['wrong', 'wrong', 'right', 'right'],
  ['wrong', 'right', 'wrong', 'right'],
  ['right', 'wrong', 'wrong', 'right'],
  ['wrong', 'right', 'right', 'wrong'],
  ['right', 'wrong', 'right', 'wrong'],
  ['right', 'right', 'wrong', 'wrong'],
]

function* combinations(parts: Parts): Iterable<Combination> {
  for (const [keys, layouts, bodies, digests] of plans) {
    for (const digest of parts.digests[digests]) {
      for (const key of parts.keys[keys]) {
        for (const layout of parts.layouts[layouts]) {
          for (const signed of parts.bodies[bodies]) yield { key, layout, signed, digest }
        }
      }
    }
  }
}
