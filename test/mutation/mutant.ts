/** One small change of the source, which some test should notice; and a fair sample of many. */
import { createHash } from 'node:crypto'

export interface Edit {
  /** Offsets in the text of the file. */
  readonly at: number
  readonly until: number
  readonly text: string
}

export interface Mutant extends Edit {
  readonly file: string
  readonly operator: Operator
  /** The expression or statement that is switched: the change lies within it. */
  readonly start: number
  readonly end: number
  readonly kind: 'expression' | 'statement'
  readonly line: number
  /** `before → after`, on one line: with file and operator it names the mutant, whatever moves around it. */
  readonly change: string
  /** Of the function around it; null where the module itself runs it, when it is loaded. */
  readonly within: Span | null
}

export interface Span {
  readonly start: number
  readonly end: number
}

const operators = {
  boundary: 'a < b → a <= b',
  negation: 'a === b → a !== b',
  condition: 'the condition of an if, a ternary or a loop is always true or always false',
  logical: 'a && b → a || b, a ?? b → a',
  unary: '!a → a',
  arithmetic: 'a + b → a - b',
  assignment: 'a += b → a -= b, a++ → a--',
  call: 'a call or an assignment that stands alone does not happen',
  return: 'a value returned → undefined',
  boolean: 'true → false',
  number: 'n → n + 1, n → n - 1',
  string: "'text' → ''",
  regex: 'an anchor of a pattern is dropped',
  property: 'a property of an object is missing',
  element: 'an array is empty',
  optional: 'a?.b → a.b',
  method: 'filter, sort, slice … are left out; some → every, min → max …',
  'sql term': 'a term of a condition is always true',
  'sql or': 'an alternative of a condition never holds',
  'sql boundary': 'a < b → a <= b',
  'sql null': 'IS NULL → IS NOT NULL',
  'sql exists': 'EXISTS → NOT EXISTS',
  'sql order': 'ORDER BY a DESC → ORDER BY a',
  'sql limit': 'LIMIT n → LIMIT n + 1, OFFSET n → OFFSET 0',
  'sql set': 'UPDATE … SET leaves a column as it is',
  'sql arithmetic': 'a + b → a - b',
  'sql join': 'LEFT JOIN → JOIN, UNION → UNION ALL, DISTINCT is dropped',
  'sql extreme': 'MAX → MIN',
  'sql conflict': 'ON CONFLICT … is dropped',
  'sql constraint': 'a CHECK, UNIQUE, NOT NULL or REFERENCES is dropped',
  'sql hint': 'what Postgres alone is told, as FOR UPDATE or SKIP LOCKED, is dropped',
} as const

export type Operator = keyof typeof operators

/** One mutant among those of its file. Two with the same words differ by their place alone. */
export const nameOf = ({ file, at, operator, change }: Pick<Mutant, 'file' | 'at' | 'operator' | 'change'>) =>
  `${file}@${at} ${operator}: ${change}`

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

/** Of long texts, the part around the change. */
export function changeOf(source: string, { at, until, text }: Edit, start: number, end: number): string {
  const from = Math.max(start, at - CONTEXT)
  const to = Math.min(end, until + CONTEXT)
  const before = source.slice(from, to)
  const after = source.slice(from, at) + text + source.slice(until, to)
  return `${oneLine(before)} → ${oneLine(after) || '(nothing)'}`
}

const CONTEXT = 40

/** `count` of them, each as likely as any other, in an order of chance: the same for the same source and seed, on every machine. */
export function sampleOf(mutants: readonly Mutant[], seed: number, count: number): Mutant[] {
  // Each has a rank of its own, so that a change elsewhere does not deal all of them anew.
  const rank = (mutant: Mutant) =>
    createHash('sha256')
      .update(`${seed} ${nameOf(mutant)}`)
      .digest('hex')
  return mutants
    .map(mutant => ({ mutant, rank: rank(mutant) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant)
}
