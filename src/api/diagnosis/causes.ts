/** Every cause that a diagnosis of a signature can name, and what to do about each. */
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../signature.ts'

const RAW_BODY =
  'Write the JSON once, sign these bytes and send these very bytes. To verify, take the bytes as they came and not what a parser made of them: express.raw(), request.get_data(), io.ReadAll.'
const FORMULA = 'The signed text is the timestamp, a dot and the raw body, in this order.'
const TRIM = 'Read the secret without quotes, spaces and line breaks: trim what comes from a file or a variable.'
const WHOLE = 'The key is the whole secret as a text, from whsec_ to its last =.'
const MILLISECONDS = `${TIMESTAMP_HEADER} is the Unix time in milliseconds, 13 digits: Date.now() in JavaScript, int(time.time() * 1000) in Python, time.Now().UnixMilli() in Go.`
const HEX = `${SIGNATURE_HEADER} is 64 lower-case hex digits and nothing else: digest('hex'), hexdigest(), hex.EncodeToString.`
const CLOCK = 'Set the clock of that machine by NTP, and sign each request at the moment in which it is sent.'
export const LOOK_AT_SECRET =
  'Look whether it reads the secret that it was given, and verifies the raw body: express.raw(), request.get_data(), io.ReadAll.'

export const fixes = {
  // headers
  missing_header: `Send ${TIMESTAMP_HEADER} and ${SIGNATURE_HEADER}, once each.`,
  misspelt_header: `Name the headers ${TIMESTAMP_HEADER} and ${SIGNATURE_HEADER}.`,
  repeated_header: 'Send each header once.',
  standard_webhooks: `Webhooks carry both kinds of headers, callbacks need ${TIMESTAMP_HEADER} and ${SIGNATURE_HEADER}.`,
  secret_sent: `Never send a secret or a key: ${SIGNATURE_HEADER} is the HMAC. Rotate this one if the request went over a network: npx agent-marketplace secret rotate AGENT`,
  malformed_signature: HEX,
  prefixed_digest: HEX,
  upper_case_digest: HEX,
  base64_digest: HEX,
  // time
  malformed_timestamp: MILLISECONDS,
  seconds: MILLISECONDS,
  other_unit: MILLISECONDS,
  iso_timestamp: MILLISECONDS,
  other_timestamp_signed: `Sign the very text that ${TIMESTAMP_HEADER} has.`,
  clock_read_twice: 'Read the clock once, keep the text, and use it in the header and in what is signed.',
  stale: CLOCK,
  future: CLOCK,
  signed_early: 'Sign each request at the moment in which it is sent, and each repeat anew.',
  // secret
  previous_secret: 'Give it the new secret, which secret rotate has printed, and start it again.',
  other_agents_secret: 'Give each agent its own secret, and look which one this process reads.',
  no_prefix: WHOLE,
  decoded_secret: `${WHOLE} Only webhook-signature, the header of Standard Webhooks, takes the decoded bytes.`,
  cut_secret: WHOLE,
  encoded_secret: WHOLE,
  secret_whitespace: TRIM,
  quoted_secret: TRIM,
  no_secret: 'Look whether the variable that should have the secret is set where this process runs.',
  // body
  parsed_body: RAW_BODY,
  stringified_body: RAW_BODY,
  body_not_signed: FORMULA,
  line_break: 'Sign what is sent to the last byte: printf instead of echo, curl --data-binary instead of --data.',
  line_ends: 'Sign what is sent to the last byte: let no editor, shell or git turn line ends.',
  bom: 'Write and read the body as UTF-8 without a byte order mark.',
  encoding: 'Encode the body as UTF-8 once, and sign and send these bytes.',
  empty_body: RAW_BODY,
  encoded_body: 'Sign the bytes that are sent, or send the body without Content-Encoding.',
  // formula
  no_dot: FORMULA,
  other_separator: FORMULA,
  body_alone: FORMULA,
  other_order: FORMULA,
  other_hash: 'The signature is HMAC-SHA256.',
  plain_hash: 'The signature is HMAC-SHA256 keyed with the secret, not a hash of both: createHmac, hmac.new, hmac.New.',
  swapped_hmac: 'The secret is the key of the HMAC, the text is its message: mind their order.',
  // beyond the signature
  unknown_task: 'Post to data.callbackUrl of the webhook as it stands.',
  other_task: 'Send the taskId of the task that the address names, or none.',
  used_signature: 'Put the taskId into the body, so that equal callbacks for two tasks have different signatures.',
  refused_by_agent: `${LOOK_AT_SECRET} To compare, save the body and run npx agent-marketplace verify.`,
  nothing_to_compare: 'Give the secret of the agent: npx agent-marketplace secret rotate AGENT makes a new one.',
  unknown:
    'Most often the secret is another one, or the body was changed after it was signed. Print the length and the first bytes of what is signed on both sides, or start with npx agent-marketplace sign.',
} as const satisfies Record<string, string>

export type Cause = keyof typeof fixes

export interface Diagnosis {
  readonly cause: Cause
  /** `sure`: a recomputation matches, or the headers alone are refused. */
  readonly certainty: 'sure' | 'likely'
  /** What is wrong, in whole sentences. */
  readonly text: string
  /** What to do. */
  readonly fix: string
}

/** One thing that is not as it should be. `text` says what was signed or sent instead, and has no secret and no digest. */
export interface Flaw {
  readonly cause: Cause
  readonly text: string
}

/** A value that may have been signed, and how it differs from the right one; without flaws it is the right one. */
export interface Form<Value> {
  readonly value: Value
  readonly flaws: readonly Flaw[]
}

/** `rare`: tried only when all else is right. */
export interface Forms<Value> {
  readonly right: readonly Form<Value>[]
  readonly wrong: readonly Form<Value>[]
  readonly rare: readonly Form<Value>[]
}

export const right = <Value>(value: Value): Form<Value> => ({ value, flaws: [] })

export const wrong = <Value>(cause: Cause, text: string, value: Value): Form<Value> => ({
  value,
  flaws: [{ cause, text }],
})
