/** The house's SQL as Postgres takes it. */

export interface PostgresText {
  text: string
  /** Under which it is prepared; none for what changes the schema. */
  name: string | null
}

const known = new Map<string, PostgresText>()

/** Translates once per text. */
export function postgresText(sql: string): PostgresText {
  let found = known.get(sql)
  if (!found) {
    const isSchema = /^\s*(CREATE|ALTER|DROP)\b/i.test(sql)
    found = {
      text: isSchema ? schemaText(uncommented(sql)) : uncommented(sql),
      name: isSchema ? null : `m${known.size}`,
    }
    known.set(sql, found)
  }
  return found
}

/** Ids and terms are compared byte by byte on every engine, whatever the language of the database. */
const schemaText = (sql: string) => sql.replace(/\bTEXT\b/g, 'TEXT COLLATE "C"')

/** What only this engine knows stands in comments that begin with a plus sign. */
const uncommented = (sql: string) => sql.replace(/\/\*\+(.*?)\*\//gs, '$1')
