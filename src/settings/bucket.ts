/** Parses `--files s3://…` and its environment variables. */
import { UsageError } from '../shared/usage-error.ts'

/** An S3-compatible object store and its credentials. */
export interface BucketSettings {
  readonly name: string
  /** '' or with a slash at its end. */
  readonly prefix: string
  readonly region: string
  /** undefined: Amazon's own. */
  readonly endpoint: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

export const isBucket = (text: string) => /^s3:\/\//i.test(text)

/** Uses the environment variables that other S3 programs use. */
export function bucketOf(text: string, env: Readonly<Record<string, string | undefined>>): BucketSettings {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const fault =
    !url || url.username || url.password || url.port || url.hash || ![...url.searchParams.keys()].every(known)
  if (fault || !BUCKET_NAME.test(url.hostname) || !PREFIX.test(url.pathname)) throw new UsageError(BUCKET_WANTED)
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (!accessKeyId || !secretAccessKey) {
    throw new UsageError('--files s3://… needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.')
  }
  const asked = url.searchParams
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '')
  return {
    name: url.hostname,
    prefix: prefix && `${prefix}/`,
    region: asked.get('region') || env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1',
    endpoint: endpointOf(asked.get('endpoint') || env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL),
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
  }
}

const known = (name: string) => name === 'region' || name === 'endpoint'
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const PREFIX = /^[\w./-]{0,200}$/
// The message does not repeat the URL, because it may contain a secret by mistake.
const BUCKET_WANTED =
  '--files takes a folder, or s3://bucket/prefix?region=…&endpoint=https://… with the credentials in the environment.'

function endpointOf(text: string | undefined): string | undefined {
  if (!text) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (plain) return url.href
  throw new UsageError('The endpoint of the object store is an address like https://s3.example, without a password.')
}
