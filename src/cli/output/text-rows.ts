/** Lays text out in rows of a width, in columns as a terminal counts them. */
import { stripVTControlCharacters } from 'node:util'

/** Letters that take two columns, and those that only change the one before. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/gu
const NARROW = /[\p{Mn}\p{Me}\u200b-\u200d]/gu

export function columnsOf(text: string): number {
  const shown = stripVTControlCharacters(text)
  // Nearly all text is ASCII.
  if (/^[ -~]*$/.test(shown)) return shown.length
  const count = (letters: RegExp) => shown.match(letters)?.length ?? 0
  return [...shown].length + count(WIDE) - count(NARROW)
}

/** Words, with the blanks before them. */
export const wordsOf = (text: string): readonly string[] => text.match(/ *[^ ]+/g) ?? []

/** Breaks between words. One that is longer than a row stays whole. `rest` is the width of all rows but the first. */
export function rowsOf(words: readonly string[], width: number, rest = width): string[] {
  const rows = ['']
  for (const word of words) {
    const row = rows.at(-1)!
    const room = rows.length === 1 ? width : rest
    if (row === '' || columnsOf(row) + columnsOf(word) <= room) rows[rows.length - 1] = row + word
    else rows.push(word.trimStart())
  }
  return rows
}

/** Where the second column of a list begins; else the blanks before a line, or behind its mark. */
export function hangingIndent(line: string, most = Number.POSITIVE_INFINITY): string {
  const { length } = LIST.exec(line)?.[0] ?? ''
  return ' '.repeat(length > 0 && length <= most ? length : BEGINNING.exec(line)![0].length)
}

const MARK = '(?:[✔✖!?·•›-] )'
const LIST = new RegExp(`^(?: +| *${MARK})\\S+(?: \\S+)*? {2,}`)
const BEGINNING = new RegExp(`^ *${MARK}?`)

/** Words of which none is longer than a row. */
export const cutWords = (words: readonly string[], width: number): string[] =>
  words.flatMap(word => (columnsOf(word) > width ? pieces(word.trimStart(), width) : [word]))

function pieces(word: string, width: number): string[] {
  const cut = ['']
  for (const letter of word) {
    const piece = cut.at(-1)!
    if (columnsOf(piece + letter) <= width) cut[cut.length - 1] = piece + letter
    else cut.push(letter)
  }
  return cut
}

/** The beginning of a text, with … in the place of what has no room. A text that is coloured as a whole stays so. */
export function cutText(text: string, width: number): string {
  if (columnsOf(text) <= width) return text
  const [, before = '', shown = text, after = ''] = COLOURED.exec(text) ?? []
  return `${before}${width > 1 ? pieces(shown, width - 1)[0] : ''}…${after}`
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is how a terminal is told a colour
const COLOURED = /^(\u001b\[\d+m)(.*)(\u001b\[\d+m)$/

interface Layout {
  readonly width: number
  /** Before each row but the first. */
  readonly indent?: string
}

/** A command line in rows that a shell takes as one. The first stands behind `label`. */
export function commandRows(line: string, label: string, { width, indent = '' }: Layout): string[] {
  const rows = [label]
  for (const part of line.match(PARTS) ?? []) {
    const row = rows.at(-1)!
    if (columnsOf(row) + columnsOf(part) + CONTINUED.length < width) rows[rows.length - 1] = `${row} ${part}`
    else if (row.trim() === '') rows[rows.length - 1] = indent + part
    else rows.push(indent + part)
  }
  return rows.map((row, at) => (at < rows.length - 1 ? row + CONTINUED : row))
}

const CONTINUED = ' \\'

/** A flag with its value, or words up to the next flag. A text in quotes is one word. */
const PARTS = /(?:(?:"[^"]*"|'[^']*'|[^\s"'])+)(?: +(?!-)(?:"[^"]*"|'[^']*'|[^\s"'])+)*/g

/** Each line of a text in rows. They go on below the words behind a mark, those of a list below its second column. */
export const textRows = (text: string, width: number): string[] =>
  text.split('\n').flatMap(line => {
    if (columnsOf(line) <= width) return [line]
    return sentenceRows(line, width, hangingIndent(stripVTControlCharacters(line), width / 2))
  })

/** The first row has no indent: what stands there is in the text. It may be shorter than the others. */
export function sentenceRows(text: string, width: number, indent = '', firstWidth = width): string[] {
  const [first = '', ...rest] = rowsOf(text.match(UNITS) ?? [], firstWidth, width - indent.length)
  return [first, ...rest.flatMap(row => placed(row, width, indent))]
}

/** A row that has no room behind the indent moves to the left. A command that has none there goes on in rows that a shell takes as one. */
export function placed(row: string, width: number, indent: string): string[] {
  const room = width - columnsOf(row)
  if (room >= 0 || !IS_COMMAND.test(row)) return [indent.slice(0, Math.max(0, room)) + row]
  return commandRows(row, ' ', { width, indent: '    ' })
}

/** Behind one of these words it is the thing, not the program. */
const ARTICLE = '(?:[Aa]|[Aa]nother|[Aa]ny|[Ee]ach|[Ii]ts|[Nn]o|[Oo]ne|own|[Tt]hat|[Tt]he|[Tt]his|whole|[Yy]our) '
const COMMAND = `(?:npx agent-|(?<!\\b${ARTICLE}))marketplace [a-z]`
const IS_COMMAND = new RegExp(`^${COMMAND}`)

/** Words, with the blanks before them. A command goes from the name of the program to the end of the sentence. */
const UNITS = new RegExp(` *(?:[^ a-z]*${COMMAND}.*?(?:[.,]?$|[.,](?= )|(?= {2}| \\. ))|[^ ]+)`, 'g')
