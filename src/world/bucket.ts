/** A client of an S3-compatible object store: signed requests, with a bounded number of retries. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { BucketError, couldNotBeReached, refusedBy } from './bucket-faults.ts'
import { connectionsTo } from './egress/egress.ts'

export interface BucketOptions {
  name: string
  /** The prefix of all keys: empty, or with a slash at its end. */
  prefix: string
  region: string
  /** The URL of a store that is not Amazon's own. */
  endpoint?: string | undefined
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
  /** How long the store may send nothing during a request. */
  silenceMs?: number
  /** Before the second try; the next pauses are twice as long each. */
  firstPauseMs?: number
}

export interface Bucket {
  /** Stores the file at `path` under this key. It is there as a whole when this resolves, and nothing is if it rejects. */
  put(key: string, path: string): Promise<void>
  /** Returns the object as a stream. Rejects if there is none. A caller that stops reading must destroy the stream. */
  get(key: string): Promise<Readable>
  /** Removes the object. No error if there is none. */
  remove(key: string): Promise<void>
  /** Tests the store: writes, reads and removes an object under this key. Its error says what to check. */
  prove(key: string): Promise<void>
  close(): Promise<void>
}

interface Body {
  length: number
  /** SHA-256, hexadecimal. */
  hash: string
  /** Opens the body again for each try. */
  open(): Readable | Buffer
}

/** Four tries, all of them within three quarters of a minute. */
const TRIES = 4
const DEADLINE_MS = 45_000
const FIRST_PAUSE_MS = 200
/** How much of an error response is read. */
const MAX_FAULT_BYTES = 16 * 1024

/** Makes the client. Connections are opened when they are needed. Source: A-152. */
export async function openBucket(options: BucketOptions): Promise<Bucket> {
  const { firstPauseMs = FIRST_PAUSE_MS } = options
  const base = addressOf(options)
  const connections = await connectionsTo(base.origin, options.silenceMs)
  const sign = await signerOf(options, base.href)

  /** Returns the response of the last try. The deadline is for its head; reading the body may take longer. */
  async function ask(method: 'PUT' | 'GET' | 'DELETE', key: string, body?: Body) {
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), DEADLINE_MS)
    try {
      for (let tries = 1; ; tries++) {
        const last = () => tries === TRIES || deadline.signal.aborted
        try {
          const { path, headers } = await sign(method, key, body)
          const opened = body?.open() ?? null
          const answer = await connections.request({ method, path, headers, body: opened, signal: deadline.signal })
          if (last() || !mayPassLater(answer.statusCode)) return answer
          await answer.body.dump().catch(() => {})
        } catch (error) {
          if (last()) throw couldNotBeReached(base.origin, error as Error)
        }
        await pause(firstPauseMs * 2 ** (tries - 1))
      }
    } finally {
      clearTimeout(timer)
    }
  }

  async function expect(statuses: readonly number[], method: 'PUT' | 'GET' | 'DELETE', key: string, body?: Body) {
    const answer = await ask(method, key, body)
    if (statuses.includes(answer.statusCode)) return answer.body
    throw refusedBy(options, base.origin, answer.statusCode, await startOf(answer.body))
  }

  async function put(key: string, body: Body) {
    await (await expect([200, 201, 204], 'PUT', key, body)).dump()
  }

  async function remove(key: string) {
    await (await expect([200, 202, 204, 404], 'DELETE', key)).dump()
  }

  return {
    put: async (key, path) => put(key, await bodyOf(path)),
    get: key => expect([200], 'GET', key),
    remove,
    async prove(key) {
      const text = 'Written by a start of the marketplace, to see that it can.'
      await put(key, { length: text.length, hash: sha256().update(text).digest('hex'), open: () => Buffer.from(text) })
      const found = await startOf(await expect([200], 'GET', key))
      await remove(key)
      if (found !== text) throw new BucketError('Changed', `What was written to ${base.origin} came back changed.`)
    },
    close: () => connections.destroy(),
  }
}

/** Signs one request: what it asks for is part of the signature, as is the hash of its body. */
async function signerOf(options: BucketOptions, base: string) {
  const { AwsV4Signer } = await import('aws4fetch') // most marketplaces never need it
  const { prefix, region } = options
  // For the signing key of the day, which takes four hashes. aws4fetch wants a Map; it grows by 200 bytes a day.
  const cache = new Map<string, ArrayBuffer>()
  return async (method: string, key: string, body: Body | undefined) => {
    const headers = {
      'x-amz-content-sha256': body?.hash ?? EMPTY_HASH,
      ...(body && { 'content-length': String(body.length), 'content-type': 'application/octet-stream' }),
    }
    const request = { method, url: `${base}${prefix}${key}`, headers, service: 's3', region, cache }
    const signed = await new AwsV4Signer({ ...request, ...credentialsOf(options) }).sign()
    return { path: signed.url.pathname, headers: Object.fromEntries(signed.headers) }
  }
}

const sha256 = () => createHash('sha256')
const EMPTY_HASH = sha256().digest('hex')

async function bodyOf(path: string): Promise<Body> {
  const hash = sha256()
  const [{ size }] = await Promise.all([stat(path), pipeline(createReadStream(path), hash)])
  return { length: size, hash: hash.digest('hex'), open: () => createReadStream(path) }
}

type Where = Pick<BucketOptions, 'name' | 'region' | 'endpoint'>

const credentialsOf = ({ accessKeyId, secretAccessKey, sessionToken }: BucketOptions) => ({
  accessKeyId,
  secretAccessKey,
  ...(sessionToken !== undefined && { sessionToken }),
})

/**
 * Returns the base URL of the keys. Amazon wants the bucket in the host name, other stores want it in the path.
 * @internal Tested by itself: no test can ask Amazon.
 */
export function addressOf({ endpoint, name, region }: Where): { origin: string; href: string } {
  const amazon = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  // The certificate would not cover a bucket name with a dot.
  if (endpoint === undefined && !name.includes('.')) {
    return { origin: `https://${name}.${amazon}`, href: `https://${name}.${amazon}/` }
  }
  const { origin, pathname } = new URL(endpoint ?? `https://${amazon}`)
  return { origin, href: `${origin}${pathname.replace(/\/*$/, '/')}${name}/` }
}

/** Whether a later try may succeed: too many requests, or a store that restarts or is overloaded. */
const mayPassLater = (status: number) => [408, 429, 500, 502, 503, 504].includes(status)

async function startOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > MAX_FAULT_BYTES) break
  }
  return Buffer.concat(chunks).toString()
}

// Requests that failed together must not all retry at the same moment.
let jitter = 0
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms * (1 + (jitter++ % 8) / 8)))
