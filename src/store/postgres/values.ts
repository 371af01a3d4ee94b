/** Converts values from the text format of Postgres. */
import pg from 'pg'

const INT8 = 20

/** BIGINT as a number: all of ours are safe integers, and one that is not must not be rounded in silence. */
export function parserOf(oid: number) {
  return oid === INT8 ? safeInteger : pg.types.getTypeParser(oid, 'text')
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is beyond the safe integers`)
  return value
}
