/** What authors get wrong, as switches of one agent that is right, and what everybody is to say of each. */
import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cause } from '../../src/api/diagnosis/table.ts'

/** How a callback differs from a right one. */
interface Wrongly {
  readonly fields?: object
  /** Of the body that is sent; what is signed stays as it was. */
  readonly sent?: (body: string) => string
  /** The signed text, of the timestamp and the body. */
  readonly signed?: (timestamp: string, body: string) => string
  readonly timestamp?: string
  readonly headers?: (headers: Record<string, string>) => Record<string, string>
  readonly to?: (callbackUrl: string) => string
}

export type Send = (action: string, wrongly?: Wrongly) => Promise<number>

export interface Came {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly send: Send
}

export interface Mistake {
  /** The end of a sentence that begins with the agent. */
  readonly does: string
  readonly cause: Cause
  readonly certainty: 'sure' | 'likely'
  /** What a connection test finds: the same unless given; null: it can't see that. */
  readonly inTest?: Cause | null
  /** Nobody can hire the agent until that is mended. */
  readonly isUnhired?: true
  /** What its builder has done, by a command line; `{agent}` is its name. */
  readonly typed?: string
  /** It ends, and nothing listens there any more. */
  readonly ends?: true
  /** What it verifies with, of its secret when it was listed and that of another agent. */
  readonly key?: (secret: string, other: string) => string | Buffer
  readonly bytes?: (body: Buffer) => Buffer
  readonly answer?: (came: Came) => unknown
  /** In place of accept and deliver. */
  readonly work?: (send: Send) => Promise<unknown>
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  ({ response }: Came) =>
    void response.writeHead(code, headers).end()
export const right = status(200)

const done = { fields: { content: 'Done.' } }

export async function works(send: Send) {
  await send('accept')
  await send('deliver', done)
}

const accepts = (wrongly: Wrongly) => (send: Send) => send('accept', wrongly)

/** Each cause once, so that it names the agent. The first are those that authors make most often, and the dearest to find. */
export const mistakes: readonly Mistake[] = [
  { does: 'leaves whsec_ out of its secret', cause: 'no_prefix', certainty: 'sure', key: secret => secret.slice(6) },
  {
    does: 'writes the time of callbacks in seconds',
    cause: 'seconds',
    certainty: 'sure',
    work: send => send('accept', { timestamp: String(Math.floor(Date.now() / 1_000)) }),
  },
  { does: 'redirects', cause: 'redirect', certainty: 'sure', answer: status(301, { location: '/webhook/' }) },
  {
    does: 'works before it answers',
    cause: 'work_before_answer',
    certainty: 'likely',
    async answer(came) {
      await works(came.send)
      await pause(900)
      right(came)
    },
    work: async () => {},
  },
  {
    does: 'answers and does nothing',
    cause: 'silent',
    certainty: 'likely',
    inTest: 'no_callback',
    work: async () => {},
  },
  { does: 'has ended', cause: 'nobody_listens', certainty: 'sure', ends: true },
  { does: 'fails', cause: 'agent_failed', certainty: 'sure', answer: status(500) },
  {
    does: 'delivers what it has not accepted',
    cause: 'not_accepted',
    certainty: 'likely',
    inTest: null,
    work: send => send('deliver', done),
  },
  {
    does: 'has the secret from before a rotation',
    cause: 'previous_secret',
    certainty: 'sure',
    isUnhired: true,
    typed: 'secret rotate {agent} --yes',
    key: secret => secret,
  },
  {
    does: 'is saved with an address without TLS',
    cause: 'no_https',
    certainty: 'sure',
    isUnhired: true,
    typed: 'agents update {agent} --webhook-url http://localhost:3000/webhook',
  },
  {
    does: 'has the secret of another agent',
    cause: 'other_agents_secret',
    certainty: 'sure',
    key: (_, other) => other,
  },
  {
    does: 'decodes its secret',
    cause: 'decoded_secret',
    certainty: 'sure',
    key: secret => Buffer.from(secret.slice(6), 'base64'),
  },
  {
    does: 'verifies the object that a parser has made of the body',
    cause: 'stringified_body',
    certainty: 'sure',
    bytes: body => Buffer.from(String(JSON.parse(body.toString()))),
  },
  {
    does: 'signs JSON and sends it written anew',
    cause: 'parsed_body',
    certainty: 'sure',
    work: accepts({ sent: body => JSON.stringify(JSON.parse(body), null, 2) }),
  },
  {
    does: 'writes the time of callbacks in microseconds',
    cause: 'other_unit',
    certainty: 'sure',
    work: send => send('accept', { timestamp: `${Date.now()}000` }),
  },
  {
    does: 'forgets the header of the time',
    cause: 'missing_header',
    certainty: 'sure',
    work: accepts({ headers: ({ 'X-Service-Timestamp': _, ...rest }) => rest }),
  },
  {
    does: 'names the header of the signature otherwise',
    cause: 'misspelt_header',
    certainty: 'sure',
    work: accepts({ headers: ({ 'X-Service-Signature': made, ...rest }) => ({ ...rest, 'X-Signature': made! }) }),
  },
  {
    does: 'writes digests in base64',
    cause: 'base64_digest',
    certainty: 'sure',
    work: accepts({
      headers: headers => ({
        ...headers,
        'X-Service-Signature': Buffer.from(headers['X-Service-Signature']!, 'hex').toString('base64'),
      }),
    }),
  },
  {
    does: 'signs without the dot',
    cause: 'no_dot',
    certainty: 'sure',
    work: accepts({ signed: (timestamp, body) => timestamp + body }),
  },
  {
    does: 'signs the body alone',
    cause: 'body_alone',
    certainty: 'sure',
    work: accepts({ signed: (_, body) => body }),
  },
  {
    does: 'makes up the address of callbacks',
    cause: 'wrong_callback_path',
    certainty: 'sure',
    work: accepts({ to: url => url.replace(/\/callback$/, '/answer') }),
  },
  { does: 'takes POST at another path', cause: 'wrong_path', certainty: 'likely', answer: status(404) },
  { does: 'takes no POST', cause: 'wrong_method', certainty: 'likely', answer: status(405) },
  { does: 'takes no body of that length', cause: 'too_large', certainty: 'likely', answer: status(413) },
  { does: 'refuses whatever comes', cause: 'refused_by_agent', certainty: 'likely', answer: status(401) },
  { does: 'hangs up', cause: 'cut_off', certainty: 'likely', answer: ({ request }) => void request.socket.destroy() },
  {
    does: 'delivers nothing',
    cause: 'bad_callback',
    certainty: 'sure',
    work: async send => {
      await send('accept')
      await send('deliver', { fields: { content: '' } })
    },
    inTest: null,
  },
  {
    does: 'sends callbacks twice',
    cause: 'doubled_callback',
    certainty: 'sure',
    inTest: null,
    async work(send) {
      await send('accept')
      await send('accept')
    },
  },
  {
    does: 'is slow to answer',
    cause: 'slow_answer',
    certainty: 'likely',
    answer: came => pause(5_500).then(() => right(came)),
  },
]

/** `secret`: of the agent. */
export const sender =
  (secret: string, callbackUrl: string, taskId: string): Send =>
  async (
    action,
    { fields, sent = (text: string) => text, signed, timestamp = String(Date.now()), headers, to } = {},
  ) => {
    const body = JSON.stringify({ action, taskId, ...fields })
    const text = signed?.(timestamp, body) ?? `${timestamp}.${body}`
    const right = {
      'X-Service-Timestamp': timestamp,
      'X-Service-Signature': createHmac('sha256', secret).update(text).digest('hex'),
      'Content-Type': 'application/json',
    }
    const request = { method: 'POST', headers: headers?.(right) ?? right, body: sent(body) }
    // Forged webhooks name an address at which nobody is.
    const answered = await fetch(to?.(callbackUrl) ?? callbackUrl, request).catch(() => null)
    return answered?.status ?? 0
  }
