/** Parses the text of a statement when it is prepared: its kind, the table that it writes, and the order of its values. */
import { boundedCache } from '../../shared/bounded-cache.ts'

/** More texts than the program has. Only texts that are built at run time could reach this bound. */
export const KEPT_TEXTS = 1_000

export interface SqlText {
  kind: 'read' | 'write' | 'schema'
  /** The table that it writes; null for a read and for a change of the schema. */
  table: string | null
  /** The n of the $n that is the `id` of the only row that it can change; null if the text does not show that. */
  row: number | null
  /** For each parameter of the engine, in its order, the n of its $n. */
  parameters: readonly number[]
  /** How many values the text needs: the greatest n. */
  valueCount: number
}

// One token that matters, or that may contain text which looks like one: strings, names, comments, values, words, signs.
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$\d+|[A-Za-z_][\w$]*|[();?:@]/g
const WRITES = new Set(['INSERT', 'REPLACE', 'UPDATE', 'DELETE'])
const SCHEMA = new Set(['CREATE', 'DROP', 'ALTER'])

// A replayed statement must do the same again. So nothing in it may depend on the time, on chance or on the connection.
const UNREPEATABLE =
  /\brandom(blob)?\s*\(|'now'|\b(date|time|datetime|julianday|unixepoch|strftime)\s*\(|\bcurrent_(time|date|timestamp)\b|\b(last_insert_rowid|(total_)?changes)\s*\(/i
// These keep the rows that were changed before a failure. The journal, which has whole statements, could not record that.
const HALF_DONE = /\b(OR|ON\s+CONFLICT)\s+(FAIL|ROLLBACK)\b/i

/** Of all engines of the process: what opens one after another parses each text once. */
const texts = boundedCache<SqlText>({ maxEntries: KEPT_TEXTS })

/** Parses a text. Throws a TypeError if it is not exactly one SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER or DROP. */
export const readSqlText = (sql: string): SqlText => {
  const text = texts.get(sql) ?? parsed(sql)
  texts.set(sql, text)
  return text
}

const parsed = (sql: string): SqlText => {
  const { words, parameters } = scan(sql)
  const verb = mainVerb(words)
  const kind = verb === 'SELECT' ? 'read' : WRITES.has(verb) ? 'write' : SCHEMA.has(verb) ? 'schema' : null
  if (!kind) throw new TypeError(`Not a statement for this database: ${sql}`)
  if (kind !== 'read' && (UNREPEATABLE.test(sql) || HALF_DONE.test(sql))) {
    throw new TypeError(`A statement that writes must do the same each time it runs: ${sql}`)
  }
  return {
    kind,
    table: kind === 'write' ? writtenTable(words, verb) : null,
    row: kind === 'write' ? writtenRow(sql) : null,
    parameters,
    valueCount: Math.max(0, ...parameters),
  }
}

const scan = (sql: string) => {
  const words: string[] = [] // those outside of parentheses
  const parameters: number[] = []
  let depth = 0
  let ended = false
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token.startsWith('--') || token.startsWith('/*')) continue
    if (ended) throw new TypeError(`One statement at a time: ${sql}`)
    if (token === '(') depth++
    else if (token === ')') depth--
    else if (token === ';') ended = true
    else if (token === '?' || token === ':' || token === '@') throw new TypeError(`Values stand as $1, $2 …: ${sql}`)
    else if (token.startsWith('$')) addParameter(parameters, Number(token.slice(1)))
    else if (depth === 0 && !token.startsWith("'")) words.push(token)
  }
  return { words, parameters }
}

// A named parameter gets its position at its first appearance, and later ones share it.
const addParameter = (parameters: number[], n: number) => {
  if (!parameters.includes(n)) parameters.push(n)
}

const mainVerb = (words: readonly string[]) => {
  const first = words[0]?.toUpperCase() ?? ''
  if (first !== 'WITH') return first
  return words.map(word => word.toUpperCase()).find(word => word === 'SELECT' || WRITES.has(word)) ?? ''
}

const writtenTable = (words: readonly string[], verb: string) => {
  const rest = words.slice(words.findIndex(word => word.toUpperCase() === verb) + 1)
  const skip = /^(OR|ABORT|IGNORE|REPLACE|INTO|FROM|TABLE|UNIQUE|INDEX|VIEW|TEMP|IF|NOT|EXISTS)$/i
  const name = rest.find(word => !skip.test(word)) ?? ''
  return name.replace(/^"|"$/g, '').toLowerCase()
}

// Patterns of whole statements. A statement that matches none may change any row.
const ONE_INSERTED =
  /^\s*INSERT INTO \w+\s*\(\s*id\s*,[\w\s,]*\)\s*VALUES\s*\(\s*\$(\d+)\s*,[^()']*\)\s*(?:ON CONFLICT\s*\(\w+\) DO NOTHING\s*)?$/
const ONE_CHANGED =
  /^\s*(?:UPDATE \w+ SET (?:(?!\b(?:WHERE|FROM|OR|id)\b)[^()])*|DELETE FROM \w+) WHERE id = \$(\d+)\s*(?:(?:AND|RETURNING)\b(?:(?!\bOR\b)[^()])*)?$/

const writtenRow = (sql: string) => {
  const text = withoutBrackets(sql)
  const found = ONE_INSERTED.exec(sql) ?? (text === null ? null : ONE_CHANGED.exec(text))
  return found ? Number(found[1]) : null
}

/** Returns the text outside of brackets; null if a string or a comment could contain one. */
const withoutBrackets = (sql: string) => {
  if (/'[^']*[()][^']*'|--|\/\*/.test(sql)) return null
  let text = sql
  for (let before = ''; text !== before; ) {
    before = text
    text = text.replace(/\([^()]*\)/g, '')
  }
  return text
}

/**
 * Translates our DDL for SQLite: 64-bit integers by their name there, and tables that check types.
 * A list of more than two values in a CHECK is rewritten, because SQLite would build a table of it on every write.
 */
export const sqliteSchema = (sql: string) => {
  const text = sql
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .trim()
    .replace(/;$/, '')
    .replace(/\bBIGINT\b/gi, 'INTEGER')
    .replace(/\bCHECK \((\w+) IN \(('\w+'(?:, '\w+')+)\)\)/g, (_, column, list) => `CHECK (${eachOf(column, list)})`)
  return /^CREATE\s+TABLE\b/i.test(text) && !/\bSTRICT\s*$/i.test(text) ? `${text} STRICT` : text
}

const eachOf = (column: string, list: string) =>
  list
    .split(', ')
    .map(value => `${column} = ${value}`)
    .join(' OR ')
