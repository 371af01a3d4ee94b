/** How people compute the digest, and how they write it into the header. */
import { createHash, createHmac } from 'node:crypto'
import { SIGNATURE_HEADER } from '../signature.ts'
import { type Flaw, type Form, type Forms, right, wrong } from './causes.ts'

/** Computes a digest of the message, keyed or not. */
export type Digest = (key: string | Uint8Array, message: readonly (string | Uint8Array)[]) => Buffer

/** By the length of its digest in bytes. */
const hashes: Readonly<Record<number, string>> = {
  16: 'md5',
  20: 'sha1',
  28: 'sha224',
  32: 'sha256',
  48: 'sha384',
  64: 'sha512',
}

/** Returns the ways of making a digest of this length. */
export function digestsOf(length: number): Forms<Digest> {
  const name = hashes[length]
  if (!name) return { right: [], wrong: [], rare: [] }
  const sha256 = length === 32
  const keyed: Digest = (key, message) => fed(createHmac(name, key), message)
  const others = [
    wrong<Digest>('plain_hash', `It is the ${name} of the secret and the text, not an HMAC.`, (key, message) =>
      fed(createHash(name), [key, ...message]),
    ),
    wrong<Digest>('plain_hash', `It is the ${name} of the text and the secret, not an HMAC.`, (key, message) =>
      fed(createHash(name), [...message, key]),
    ),
    wrong<Digest>('plain_hash', `It is the ${name} of the text alone: no secret went into it.`, (_, message) =>
      fed(createHash(name), message),
    ),
    wrong<Digest>('swapped_hmac', 'The text was the key of the HMAC and the secret its message.', (key, message) =>
      fed(createHmac(name, Buffer.concat(message.map(part => Buffer.from(part as string)))), [key]),
    ),
  ]
  return {
    right: sha256 ? [right(keyed)] : [],
    wrong: [
      ...(sha256 ? [] : [wrong('other_hash', `It is an HMAC with ${name}, not with SHA-256.`, keyed)]),
      ...others,
    ],
    rare: [],
  }
}

function fed(
  hash: ReturnType<typeof createHmac> | ReturnType<typeof createHash>,
  parts: readonly (string | Uint8Array)[],
) {
  for (const part of parts) hash.update(part as string)
  return hash.digest()
}

/** What schemes of other services put before a digest. */
const PREFIX =
  /^(?:(?:(?:hmac[-_]?)?sha2?-?(?:1|256|384|512)(?:\(stdin\))?|hmac|v\d|signature|s|t=\d+,\s*v\d)\s*[=:,]\s*)+/i

/** Reads the value of the signature header as kindly as possible. Returns null if it is no digest in any spelling. */
export function readDigest(text: string): Form<Buffer> | null {
  if (/^[0-9a-f]{64}$/.test(text)) return right(Buffer.from(text, 'hex'))
  const flaws: Flaw[] = []
  const note = (cause: Flaw['cause'], what: string) => flaws.push({ cause, text: `${SIGNATURE_HEADER} ${what}.` })
  const plain = text.trim().replace(/^(["'])(.*)\1$/, '$2')
  if (plain !== text) note('prefixed_digest', 'has quotes or white space around the digest')
  const prefix = PREFIX.exec(plain)?.[0]
  if (prefix) note('prefixed_digest', `begins with ${/\d{5}/.test(prefix) ? 't=…,v1=' : prefix.slice(0, 40)}`)
  const digits = plain.slice(prefix?.length ?? 0)
  const value = /^(?:[0-9a-f]{2})+$/i.test(digits) ? fromHex(digits, note) : fromBase64(digits, note)
  return value && value.length in hashes ? { value, flaws } : null
}

type Note = (cause: Flaw['cause'], what: string) => void

function fromHex(digits: string, note: Note): Buffer {
  if (/[A-F]/.test(digits)) note('upper_case_digest', 'has upper-case hex digits')
  return Buffer.from(digits, 'hex')
}

function fromBase64(text: string, note: Note): Buffer | null {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return null
  const bytes = Buffer.from(text, 'base64')
  const inner = bytes.toString('latin1')
  const isTwice = /^(?:[0-9a-f]{2})+$/i.test(inner) && inner.length / 2 in hashes
  note('base64_digest', isTwice ? 'is the base64 of the hex digits' : 'is base64')
  return isTwice ? Buffer.from(inner, 'hex') : bytes
}
