/** What authors get wrong, as switches of agents that are right, in Node, Python and Go, and what everybody is to say of each. */
import type { Cause } from '../../src/api/diagnosis/table.ts'

/** How the agents of `wrong/` do their work: they read it at each webhook. */
const right = {
  /** Of its callbacks: those of time and signature. */
  headers: ['X-Service-Timestamp', 'X-Service-Signature'] as [time: string, signature: string],
  time: 'ms' as 'ms' | 's' | 'us',
  /** What is signed before the body. */
  head: '{time}.',
  digest: 'hex' as 'hex' | 'base64',
  /** The end of the address that it calls. */
  path: 'callback',
  /** Another program writes what is sent than what is signed. */
  isWrittenAnew: false,
  /** It verifies what its language makes of the body where a text is wanted: an object, a dictionary, a list of bytes. */
  isParsed: false,
  hangsUp: false,
  worksFirst: false,
  status: 200,
  pauseMs: 0,
  calls: [{ action: 'accept' }, { action: 'deliver', content: 'Done.' }] as Readonly<Record<string, string>>[],
}

type How = typeof right & {
  readonly secret: string
  /** What it verifies with, in base64; unless given, its secret. */
  readonly key?: string
  readonly location?: string
}

export interface Mistake {
  /** The end of a sentence that begins with the agent. */
  readonly does: string
  readonly cause: Cause
  readonly certainty: 'sure' | 'likely'
  readonly how?: Partial<How>
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
}

/** `undefined`: an agent that is right. */
export const howOf = (mistake: Mistake | undefined, secret: string, other: string): How => ({
  ...right,
  ...mistake?.how,
  secret,
  ...(mistake?.key && { key: Buffer.from(mistake.key(secret, other) as string).toString('base64') }),
})

/** Each cause once, so that it names the agent. The first are those that authors make most often, and the dearest to find. */
export const mistakes: readonly Mistake[] = [
  { does: 'leaves whsec_ out of its secret', cause: 'no_prefix', certainty: 'sure', key: secret => secret.slice(6) },
  { does: 'writes the time of callbacks in seconds', cause: 'seconds', certainty: 'sure', how: { time: 's' } },
  { does: 'redirects', cause: 'redirect', certainty: 'sure', how: { status: 301, location: '/webhook/' } },
  {
    does: 'works before it answers',
    cause: 'work_before_answer',
    certainty: 'likely',
    how: { worksFirst: true, pauseMs: 900 },
  },
  { does: 'answers and does nothing', cause: 'silent', certainty: 'likely', inTest: 'no_callback', how: { calls: [] } },
  { does: 'has ended', cause: 'nobody_listens', certainty: 'sure', ends: true },
  { does: 'fails', cause: 'agent_failed', certainty: 'sure', how: { status: 500 } },
  {
    does: 'delivers what it has not accepted',
    cause: 'not_accepted',
    certainty: 'likely',
    inTest: null,
    how: { calls: right.calls.slice(1) },
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
    does: 'verifies what its language makes of the body as a text',
    cause: 'stringified_body',
    certainty: 'sure',
    how: { isParsed: true },
  },
  {
    does: 'signs JSON and sends it written anew',
    cause: 'parsed_body',
    certainty: 'sure',
    how: { isWrittenAnew: true },
  },
  { does: 'writes the time of callbacks in microseconds', cause: 'other_unit', certainty: 'sure', how: { time: 'us' } },
  {
    does: 'forgets the header of the time',
    cause: 'missing_header',
    certainty: 'sure',
    how: { headers: ['', right.headers[1]] },
  },
  {
    does: 'names the header of the signature otherwise',
    cause: 'misspelt_header',
    certainty: 'sure',
    how: { headers: [right.headers[0], 'X-Signature'] },
  },
  { does: 'writes digests in base64', cause: 'base64_digest', certainty: 'sure', how: { digest: 'base64' } },
  { does: 'signs without the dot', cause: 'no_dot', certainty: 'sure', how: { head: '{time}' } },
  { does: 'signs the body alone', cause: 'body_alone', certainty: 'sure', how: { head: '' } },
  {
    does: 'makes up the address of callbacks',
    cause: 'wrong_callback_path',
    certainty: 'sure',
    how: { path: 'answer' },
  },
  { does: 'takes POST at another path', cause: 'wrong_path', certainty: 'likely', how: { status: 404 } },
  { does: 'takes no POST', cause: 'wrong_method', certainty: 'likely', how: { status: 405 } },
  { does: 'takes no body of that length', cause: 'too_large', certainty: 'likely', how: { status: 413 } },
  { does: 'refuses whatever comes', cause: 'refused_by_agent', certainty: 'likely', how: { status: 401 } },
  { does: 'hangs up', cause: 'cut_off', certainty: 'likely', how: { hangsUp: true } },
  {
    does: 'delivers nothing',
    cause: 'bad_callback',
    certainty: 'sure',
    how: { calls: [{ action: 'accept' }, { action: 'deliver', content: '' }] },
    inTest: null,
  },
  {
    does: 'sends callbacks twice',
    cause: 'doubled_callback',
    certainty: 'sure',
    inTest: null,
    how: { calls: [{ action: 'accept' }, { action: 'accept' }] },
  },
  { does: 'is slow to answer', cause: 'slow_answer', certainty: 'likely', how: { pauseMs: 5_500 } },
]
