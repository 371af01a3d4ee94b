/**
 * Signs a webhook in the ways in which agents get the verification wrong, each with one mistake. An agent that accepts such a webhook
 * makes that mistake. Pure. Source: A-255.
 */
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../signature.ts'
import { bodiesOf, timesIn } from './bodies.ts'
import type { Diagnosis, Flaw, Form } from './causes.ts'
import { type Digest, digestsOf, readDigest } from './digests.ts'
import { type Layout, layoutsOf, readStamp } from './layouts.ts'
import { type Candidate, type Key, keysOf } from './secrets.ts'
import { sure } from './verdicts.ts'

export interface WrongSignature {
  /** Of the timestamp and of the signature. */
  readonly headers: Readonly<Record<string, string>>
  readonly mistake: Diagnosis
  /** The text that is signed; null: it is the right one, and the header is not. */
  readonly signed: Buffer | null
}

interface Signature {
  readonly timestamp: string
  readonly signature: string
  readonly signed: Buffer | null
  readonly flaws: readonly Flaw[]
}

interface Parts {
  readonly timestamp: string
  readonly key: Form<Key>
  readonly layout: Form<Layout>
  readonly signed: Form<Buffer>
  readonly digest: Form<Digest>
}

/** Yields the likely mistakes first. `now`: real time in ms. */
export function* wrongSignatures(
  body: Buffer,
  candidates: readonly Candidate[],
  now: number,
): Iterable<WrongSignature> {
  const seen = new Set<string>()
  // The first is the right one.
  for (const { timestamp, signature, signed, flaws } of signatures(body, candidates, now)) {
    const mistake = sure(flaws)
    const mark = `${timestamp} ${signature}`
    if (mistake && !seen.has(mark)) {
      yield { headers: { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signature }, mistake, signed }
    }
    seen.add(mark)
  }
}

function* signatures(body: Buffer, candidates: readonly Candidate[], now: number): Iterable<Signature> {
  const keys = keysOf(candidates)
  const bodies = bodiesOf(body)
  const digests = digestsOf(SHA256_BYTES)
  const layoutsAt = (timestamp: string) => layoutsOf(readStamp(timestamp), { ids: [], times: timesIn(body) })
  const timestamp = String(now)
  const layouts = layoutsAt(timestamp)
  const [key, layout, signed, digest] = [keys.right[0], layouts.right[0], bodies.right[0], digests.right[0]]
  if (!key || !layout || !signed || !digest) return
  const right = { timestamp, key, layout, signed, digest }
  yield signatureOf(right)
  for (const text of spellingsOf(signatureOf(right).signature)) {
    yield { timestamp, signature: text, signed: null, flaws: readDigest(text)?.flaws ?? [] }
  }
  for (const other of otherTimes(now)) {
    yield signatureOf({ ...right, timestamp: other, layout: layoutsAt(other).right[0]! })
  }
  const ofParsed = bodies.wrong.filter(isParsed)
  const ofOthers = bodies.wrong.filter(wrong => !isParsed(wrong))
  for (const wrong of keys.wrong) yield signatureOf({ ...right, key: wrong })
  for (const rare of keys.rare) yield signatureOf({ ...right, key: rare })
  for (const wrong of ofParsed) yield signatureOf({ ...right, signed: wrong })
  for (const wrong of layouts.wrong) yield signatureOf({ ...right, layout: wrong })
  for (const wrong of ofOthers) yield signatureOf({ ...right, signed: wrong })
  for (const wrong of [digests, ...otherHashes.map(digestsOf)].flatMap(one => one.wrong)) {
    yield signatureOf({ ...right, digest: wrong })
  }
}

const SHA256_BYTES = 32
const isParsed = ({ flaws }: Form<Buffer>) => /^(?:parsed|stringified)_body$/.test(flaws[0]?.cause ?? '')

/** SHA-1, SHA-512. */
const otherHashes = [20, 64]

function signatureOf({ timestamp, key, layout, signed, digest }: Parts): Signature {
  const { head, tail } = layout.value
  const signature = digest.value(key.value, [head, signed.value, tail]).toString('hex')
  const flaws = [...readStamp(timestamp).flaws, ...[key, layout, signed, digest].flatMap(part => part.flaws)]
  const text = Buffer.concat([Buffer.from(head), signed.value, Buffer.from(tail)])
  return { timestamp, signature, signed: text, flaws }
}

const spellingsOf = (hex: string) => [
  Buffer.from(hex, 'hex').toString('base64'),
  `sha256=${hex}`,
  hex.toUpperCase(),
  Buffer.from(hex).toString('base64'),
]

const otherTimes = (now: number) => [String(Math.floor(now / 1000)), new Date(now).toISOString(), `${now}000000`]
