/** What people key the HMAC with instead of the secret. */
import { type Cause, type Form, type Forms, right, wrong } from './causes.ts'

export interface Candidate {
  readonly secret: string
  /** `current`: is accepted. `previous`: was replaced. `other`: belongs to another agent. */
  readonly kind: 'current' | 'previous' | 'other'
  /** The slug of its agent. */
  readonly agent?: string | undefined
}

export type Key = string | Uint8Array

export function keysOf(candidates: readonly Candidate[]): Forms<Key> {
  const of = (kind: Candidate['kind']) => candidates.filter(candidate => candidate.kind === kind)
  const current = of('current')
  return {
    right: current.map(({ secret }) => right(secret)),
    wrong: [
      ...of('previous').map(({ secret, agent }) => wrong<Key>('previous_secret', previous(agent), secret)),
      ...current.flatMap(({ secret }) => [...changed(secret)]),
      ...unset.map(word => wrong<Key>('no_secret', `The key was ${word === '' ? 'empty' : `the word ${word}`}.`, word)),
    ],
    rare: of('other').map(({ secret, agent }) => wrong<Key>('other_agents_secret', other(agent), secret)),
  }
}

const previous = (agent: string | undefined) =>
  `The key was the previous secret${agent ? ` of ${agent}` : ''}, which has been replaced.`

const other = (agent: string | undefined) => `The key was the secret of another agent${agent ? `, ${agent}` : ''}.`

/** What a program signs with when a variable has no value. */
const unset = ['', 'undefined', 'null', 'None', 'nil']

function* changed(secret: string): Iterable<Form<Key>> {
  const seen = new Set<string>([secret])
  for (const [cause, text, value] of changes(secret)) {
    const bytes = Buffer.from(value)
    const mark = bytes.toString('latin1')
    if (bytes.length === 0 || seen.has(mark)) continue
    seen.add(mark)
    yield wrong<Key>(cause, `The key was ${text}.`, value)
  }
}

const PREFIX = /^whsec_/

function changes(secret: string): [cause: Cause, text: string, value: Key][] {
  const rest = secret.replace(PREFIX, '')
  const trimmed = secret.trim()
  const bare = trimmed.replace(/^(["'`])(.*)\1$/s, '$2')
  return [
    PREFIX.test(bare)
      ? ['no_prefix', 'the secret without whsec_', rest]
      : ['no_prefix', 'the given secret with whsec_ in front', `whsec_${secret}`],
    ['encoded_secret', 'the given secret after base64 was decoded', decodedText(secret)],
    ['decoded_secret', 'the bytes that the base64 of the secret stands for', Buffer.from(rest, 'base64')],
    ['decoded_secret', 'the whole secret taken for base64', Buffer.from(secret, 'base64')],
    ['secret_whitespace', 'the secret with a line break behind it', `${secret}\n`],
    ['secret_whitespace', 'the secret with a line break of Windows behind it', `${secret}\r\n`],
    ['secret_whitespace', 'the secret with a carriage return behind it', `${secret}\r`],
    ['secret_whitespace', 'the secret with a space behind it', `${secret} `],
    ['secret_whitespace', 'the secret with a space before it', ` ${secret}`],
    ['secret_whitespace', 'the given secret without the white space around it', trimmed],
    ['quoted_secret', 'the secret in double quotes', `"${secret}"`],
    ['quoted_secret', 'the secret in single quotes', `'${secret}'`],
    ['quoted_secret', 'the given secret without its quotes', bare],
    ['cut_secret', 'the secret without the = at its end', secret.replace(/=+$/, '')],
    ['cut_secret', 'the given secret with = at its end', padded(secret)],
    ['encoded_secret', 'the secret as an address encodes it (%3D for =)', encodeURIComponent(secret)],
    ['encoded_secret', 'the secret with a space for each +, as forms decode it', secret.replaceAll('+', ' ')],
    ['encoded_secret', 'the secret in base64 once more', Buffer.from(secret).toString('base64')],
  ]
}

const padded = (secret: string) => secret.padEnd(Math.ceil((secret.length - 6) / 4) * 4 + 6, '=')

/** As Kubernetes shows its secrets. */
function decodedText(secret: string): string {
  const text = Buffer.from(secret, 'base64').toString().trim()
  return PREFIX.test(text) ? text : ''
}
