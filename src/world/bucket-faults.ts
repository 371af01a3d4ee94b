/** Explains the errors of an object store to the operator, and what to check. */

/** The store refused a request or could not be reached. The message contains no credential. */
export class BucketError extends Error {
  /** The store's own code for it. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

interface BucketAddress {
  name: string
  prefix: string
  region: string
}

export function couldNotBeReached(origin: string, { message, code }: Error & { code?: string }): BucketError {
  const why = message || code || 'no answer'
  return new BucketError(
    code ?? 'Unreachable',
    `The object store at ${origin} can't be reached: ${why}. Check AWS_ENDPOINT_URL_S3 or ?endpoint=, and the network.`,
  )
}

/** `text`: the response body, which has the error code in XML. */
export function refusedBy(bucket: BucketAddress, origin: string, status: number, text: string): BucketError {
  const code = /<Code>([\w.]{1,100})<\/Code>/.exec(text)?.[1] ?? String(status)
  const meaning =
    meanings.find(({ codes }) => codes.includes(code)) ?? meanings.find(({ codes }) => codes.includes(String(status)))
  const said = `The object store at ${origin} answered ${status}${code === String(status) ? '' : ` (${code})`}`
  return new BucketError(code, meaning ? `${said}: ${meaning.words(bucket)}` : `${said}.`)
}

const meanings: readonly { codes: readonly string[]; words: (bucket: BucketAddress) => string }[] = [
  {
    codes: ['NoSuchBucket'],
    words: ({ name }) => `there is no bucket ${name}. Make it first, or check its name, the region and the endpoint.`,
  },
  {
    codes: ['NoSuchKey', '404'],
    words: () => 'there is no such object.',
  },
  {
    codes: ['RequestTimeTooSkewed'],
    words: () => "this machine's clock and the store's are too far apart. Check the time here (NTP).",
  },
  {
    codes: [
      'PermanentRedirect',
      'TemporaryRedirect',
      'AuthorizationHeaderMalformed',
      'AuthorizationQueryParametersError',
      '301',
      '307',
    ],
    words: ({ name, region }) => `the bucket ${name} is in another region than ${region}. Set AWS_REGION, or ?region=.`,
  },
  {
    codes: ['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidToken', 'ExpiredToken', 'InvalidSecurity', '401'],
    words: () =>
      'the credentials are not accepted. Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if it is set.',
  },
  {
    codes: ['AccessDenied', 'AllAccessDisabled', '403'],
    words: ({ name, prefix }) =>
      `these credentials need s3:PutObject, s3:GetObject and s3:DeleteObject on ${name}/${prefix}*.`,
  },
]
