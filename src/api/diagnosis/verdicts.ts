/** Makes a diagnosis of flaws, or says what was compared if there are none. */
import { type Cause, type Diagnosis, type Flaw, fixes } from './causes.ts'
import { type HeaderLines, headerValue } from './headers.ts'
import type { Candidate } from './secrets.ts'

/** Returns null without flaws: then the request is right. */
export function sure(flaws: readonly Flaw[]): Diagnosis | null {
  const [first] = flaws
  if (!first) return null
  const fix = [...new Set(flaws.map(({ cause }) => fixes[cause]))].join(' ')
  return { cause: first.cause, certainty: 'sure', text: flaws.map(({ text }) => text).join(' '), fix }
}

/** Makes a diagnosis of a cause that is found by other means than the signature. */
export const explain = (cause: Cause, text: string, certainty: Diagnosis['certainty'] = 'sure'): Diagnosis => ({
  cause,
  certainty,
  text,
  fix: fixes[cause],
})

interface Unexplained {
  /** What is wrong all the same. */
  readonly seen: readonly Flaw[]
  readonly request: { readonly headers: HeaderLines; readonly body: Uint8Array }
  readonly candidates: readonly Candidate[]
  readonly tries: number
}

export function unexplained({ seen, request, candidates, tries }: Unexplained): Diagnosis {
  const compared =
    `The signature matches none of ${tries} recomputations: with ${secretsOf(candidates)}, in the spellings that go wrong; ` +
    'with other times, separators and hashes; with the body as JavaScript, Python, Go, PHP and .NET write it, and in other encodings.'
  const known = sure(seen)
  if (known) return { ...known, text: `${known.text} Besides: ${compared}`, fix: `${known.fix} ${fixes.unknown}` }
  const cause = likelyCause(request, candidates)
  const guess = guesses[cause]
  return { cause, certainty: 'likely', text: guess ? `${compared} ${guess}` : compared, fix: fixes[cause] }
}

function likelyCause({ headers, body }: Unexplained['request'], candidates: readonly Candidate[]): Cause {
  if (candidates.length === 0) return 'nothing_to_compare'
  if (body.length === 0) return 'empty_body'
  return /^(?:identity)?$/i.test(headerValue(headers, 'content-encoding') ?? '') ? 'unknown' : 'encoded_body'
}

const guesses: Partial<Record<Cause, string>> = {
  nothing_to_compare: 'There is no secret to compare with.',
  empty_body: 'The body is empty: it was read before it came here, or never sent.',
  encoded_body: 'The body has a Content-Encoding: perhaps it was signed before it was packed.',
}

function secretsOf(candidates: readonly Candidate[]): string {
  const count = (kind: Candidate['kind']) => candidates.filter(candidate => candidate.kind === kind).length
  const parts = [
    [count('current'), 'secret'],
    [count('previous'), 'previous secret'],
    [count('other'), 'secret of other agents'],
  ] as const
  const named = parts
    .filter(([n]) => n > 0)
    .map(([n, what]) => `${n} ${n === 1 ? what : what.replace('secret', 'secrets')}`)
  return named.join(', ') || 'no secret'
}
