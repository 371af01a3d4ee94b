/**
 * Changes within a text of SQL. Values keep their places, since a statement that misses one fails before any test could
 * look at what it does: a dropped term becomes `(term OR 1 = 1)`, and a dropped assignment still mentions its value.
 */
import type { Edit, Operator } from './mutant.ts'

export interface SqlEdit extends Edit {
  readonly operator: Operator
}

interface Token {
  readonly text: string
  readonly at: number
  readonly until: number
  /** In how many brackets. */
  readonly depth: number
}

const SQL =
  /\b(?:SELECT|INSERT INTO|UPDATE \w|DELETE FROM|WHERE|AND|ORDER BY|LIMIT|OFFSET|JOIN|IS NULL|IS NOT NULL|CREATE (?:UNIQUE )?(?:TABLE|INDEX)|ALTER TABLE|ON CONFLICT|NOT EXISTS|DISTINCT)\b|\/\*\+|\w (?:=|<|>|<=|>=|<>) (?:\$|')/

/** False for prose and for whatever else a string may be. */
export const isSql = (text: string) => SQL.test(text)

/** A hole of a template, a comment or a string of SQL is one token. */
const TOKEN =
  /\$\{(?:[^{}]|\{[^{}]*\})*\}|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]*"|\$\d+|[A-Za-z_][\w.]*|\d+|<=|>=|<>|[-+*/<>=(),;]/g

function tokensOf(sql: string): Token[] {
  const tokens: Token[] = []
  let depth = 0
  for (const { 0: text, index: at } of sql.matchAll(TOKEN)) {
    if (text === ')') depth--
    tokens.push({ text, at, until: at + text.length, depth })
    if (text === '(') depth++
  }
  return tokens
}

const CLAUSE =
  /^(?:SELECT|FROM|WHERE|ORDER|GROUP|HAVING|LIMIT|OFFSET|UNION|RETURNING|SET|VALUES|LEFT|JOIN|ON|DO|FOR|WHEN|THEN|ELSE|END|INSERT|UPDATE|DELETE|AS)$/
const is = (token: Token | undefined, ...words: string[]) => token !== undefined && words.includes(token.text)

/** Where the term or item that begins at token `from` ends: before a word of `stops` or whatever ends the clause. */
function endOf(tokens: readonly Token[], from: number, ...stops: string[]): number {
  const { depth } = tokens[from]!
  let i = from
  for (; i < tokens.length; i++) {
    const token = tokens[i]!
    if (token.depth < depth) break
    if (token.depth > depth) continue
    if (i > from && (is(token, ';', ...stops) || CLAUSE.test(token.text) || token.text.startsWith('/*'))) break
  }
  return i
}

/** Every change of one text, each by itself. Offsets are those of the text. */
export const sqlEdits = (sql: string): SqlEdit[] => statementsOf(tokensOf(sql)).flatMap(one => editsOf(one, sql))

function statementsOf(tokens: readonly Token[]): Token[][] {
  const statements: Token[][] = [[]]
  for (const token of tokens) {
    if (is(token, ';')) statements.push([])
    else statements.at(-1)!.push(token)
  }
  return statements.filter(one => one.length > 0)
}

/** An index that is not unique changes no result, so there is nothing that a test of results could notice. */
function editsOf(tokens: readonly Token[], sql: string): SqlEdit[] {
  if (is(tokens[0], 'DROP') || (is(tokens[0], 'CREATE') && is(tokens[1], 'INDEX'))) return []
  return [
    ...termEdits(tokens, sql),
    ...tokens.flatMap((_, i) => wordEdits(tokens, i)),
    ...setEdits(tokens, sql),
    ...orderEdits(tokens),
    ...limitEdits(tokens),
    ...hintEdits(tokens),
    ...constraintEdits(tokens),
  ]
}

const edit = (operator: Operator, at: number, until: number, text: string): SqlEdit => ({ operator, at, until, text })

/** Terms of WHERE, ON, AND and OR; a fragment that is a condition alone begins with one. */
function termEdits(tokens: readonly Token[], sql: string): SqlEdit[] {
  if (is(tokens[0], 'ALTER') || (is(tokens[0], 'CREATE') && !is(tokens[1], 'UNIQUE'))) return []
  const starts = tokens.flatMap((token, i) =>
    is(token, 'WHERE', 'AND', 'OR') ? [i + 1] : [...onStart(tokens, i), ...bracketStart(tokens, i)],
  )
  const isFragment = !/^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|FROM|JOIN|LEFT|ORDER|AND|OR|WHERE)\b/.test(sql)
  const all = isFragment && /^\s*(?:[\w.]+ (?:=|<|>|IN\b|IS\b)|NOT EXISTS|EXISTS)/.test(sql) ? [0, ...starts] : starts
  return all.flatMap(from => {
    const to = from < tokens.length ? endOf(tokens, from, 'AND', 'OR') : from
    if (to <= from || is(tokens[to - 1], 'AND', 'OR')) return []
    const [at, until] = [tokens[from]!.at, tokens[to - 1]!.until]
    const term = sql.slice(at, until)
    if (/^\$\{[^}]*\}$/.test(term) || term.includes(',')) if (!/[=(]/.test(term)) return []
    const isAlternative =
      is(tokens[from - 1], 'OR') || (is(tokens[to], 'OR') && tokens[to]!.depth === tokens[from]!.depth)
    return isAlternative
      ? [edit('sql or', at, until, `(${term} AND 1 = 0)`)]
      : [edit('sql term', at, until, `(${term} OR 1 = 1)`)]
  })
}

/** ON of a join, not of a conflict or an index. */
const onStart = (tokens: readonly Token[], i: number) =>
  is(tokens[i], 'ON') && !is(tokens[i + 1], 'CONFLICT') && tokens.slice(0, i).some(token => token.text === 'JOIN')
    ? [i + 1]
    : []

/** The first term of several in brackets. */
function bracketStart(tokens: readonly Token[], i: number): number[] {
  const first = tokens[i + 1]
  if (!is(tokens[i], '(') || !first || CLAUSE.test(first.text) || is(first, ')')) return []
  const to = endOf(tokens, i + 1, 'AND', 'OR')
  return is(tokens[to], 'AND', 'OR') && tokens[to]!.depth === first.depth ? [i + 1] : []
}

const swaps: Readonly<Record<string, readonly [Operator, string]>> = {
  '<': ['sql boundary', '<='],
  '>': ['sql boundary', '>='],
  '<=': ['sql boundary', '<'],
  '>=': ['sql boundary', '>'],
  MAX: ['sql extreme', 'MIN'],
  MIN: ['sql extreme', 'MAX'],
  DISTINCT: ['sql join', ''],
}

/** Words that stand together, unless one of `not` stands before them, and what they become. */
const phrases: readonly { words: readonly string[]; not?: readonly string[]; operator: Operator; to: string }[] = [
  { words: ['IS', 'NULL'], operator: 'sql null', to: 'IS NOT NULL' },
  { words: ['IS', 'NOT', 'NULL'], operator: 'sql null', to: 'IS NULL' },
  { words: ['EXISTS'], not: ['IF', 'NOT'], operator: 'sql exists', to: 'NOT EXISTS' },
  { words: ['NOT', 'EXISTS'], not: ['IF'], operator: 'sql exists', to: 'EXISTS' },
  { words: ['LEFT', 'JOIN'], operator: 'sql join', to: 'JOIN' },
]

function wordEdits(tokens: readonly Token[], i: number): SqlEdit[] {
  const token = tokens[i]!
  const next = tokens[i + 1]
  const swap = swaps[token.text]
  if (swap) return [edit(swap[0], token.at, token.until, swap[1])]
  if (is(token, '+', '-') && i > 0 && !is(tokens[i - 1], '(', ',')) {
    return [edit('sql arithmetic', token.at, token.until, token.text === '+' ? '-' : '+')]
  }
  const phrase = phrases.find(
    ({ words, not = [] }) => words.every((word, at) => is(tokens[i + at], word)) && !is(tokens[i - 1], ...not),
  )
  if (phrase) return [edit(phrase.operator, token.at, tokens[i + phrase.words.length - 1]!.until, phrase.to)]
  if (is(token, 'UNION') && !is(next, 'ALL')) return [edit('sql join', token.at, token.until, 'UNION ALL')]
  if (is(token, 'ON') && is(next, 'CONFLICT')) {
    const to = tokens.findIndex((one, at) => at > i && (is(one, 'NOTHING', 'WHERE') || one.text.startsWith('/*')))
    if (to !== -1 && is(tokens[to], 'NOTHING')) return [edit('sql conflict', token.at, tokens[to]!.until, '')]
  }
  return []
}

function setEdits(tokens: readonly Token[], sql: string): SqlEdit[] {
  const set = tokens.findIndex(token => is(token, 'SET'))
  if (set === -1) return []
  const edits: SqlEdit[] = []
  for (let from = set + 1; from < tokens.length; ) {
    const to = endOf(tokens, from, ',')
    const [column, equals] = [tokens[from]!, tokens[from + 1]]
    if (!is(equals, '=') || to <= from + 2) break
    const [at, until] = [tokens[from + 2]!.at, tokens[to - 1]!.until]
    const kept = `CASE WHEN 1 = 1 THEN ${column.text} ELSE ${sql.slice(at, until)} END`
    edits.push(edit('sql set', at, until, kept))
    if (!is(tokens[to], ',')) break
    from = to + 1
  }
  return edits
}

function orderEdits(tokens: readonly Token[]): SqlEdit[] {
  return tokens.flatMap((token, i) => {
    if (!is(token, 'ORDER') || !is(tokens[i + 1], 'BY')) return []
    const edits: SqlEdit[] = []
    for (let from = i + 2; from < tokens.length; ) {
      const to = endOf(tokens, from, ',')
      const last = tokens[to - 1]
      if (!last || to <= from || last.text.startsWith('${')) break
      if (is(last, 'DESC')) edits.push(edit('sql order', last.at, last.until, 'ASC'))
      else if (is(last, 'ASC')) edits.push(edit('sql order', last.at, last.until, 'DESC'))
      else edits.push(edit('sql order', last.until, last.until, ' DESC'))
      if (!is(tokens[to], ',')) break
      from = to + 1
    }
    return edits
  })
}

function limitEdits(tokens: readonly Token[]): SqlEdit[] {
  return tokens.flatMap((token, i) => {
    const value = tokens[i + 1]
    if (!value || !is(token, 'LIMIT', 'OFFSET')) return []
    return [edit('sql limit', value.until, value.until, is(token, 'LIMIT') ? ' + 1' : ' * 0')]
  })
}

const HINT = /FOR (?:NO KEY )?UPDATE(?: OF \w+)?|SKIP LOCKED|FOR (?:KEY )?SHARE/g

function hintEdits(tokens: readonly Token[]): SqlEdit[] {
  return tokens.flatMap(({ text, at, until }) => {
    if (!text.startsWith('/*+')) return []
    const parts = [...text.matchAll(HINT)]
    const whole = edit('sql hint', at, until, '')
    if (parts.length < 2) return [whole]
    const skip = parts.filter(([part]) => part === 'SKIP LOCKED')
    return [whole, ...skip.map(({ 0: part, index }) => edit('sql hint', at + index, at + index + part.length, ''))]
  })
}

function constraintEdits(tokens: readonly Token[]): SqlEdit[] {
  return tokens.flatMap((token, i) => {
    const next = tokens[i + 1]
    if (is(token, 'CHECK') && is(next, '(')) return [edit('sql constraint', next!.until, next!.until, '1 = 1 OR ')]
    if (is(token, 'UNIQUE') && is(next, 'INDEX')) return [edit('sql constraint', token.at, token.until, '')]
    if (is(token, 'UNIQUE') && !is(next, '(')) return [edit('sql constraint', token.at, token.until, '')]
    if (is(token, 'NOT') && is(next, 'NULL') && !is(tokens[i - 1], 'IS')) {
      return [edit('sql constraint', token.at, next!.until, '')]
    }
    if (is(token, 'REFERENCES')) {
      const to = tokens.findIndex((one, at) => at > i && is(one, ')'))
      return to === -1 ? [] : [edit('sql constraint', token.at, tokens[to]!.until, '')]
    }
    return []
  })
}
