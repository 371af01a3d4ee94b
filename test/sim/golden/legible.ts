/** How what a simulator makes is written for readers. */

export const inParagraphs = (paragraphs: readonly string[]) => `${paragraphs.join('\n\n')}\n`

/** What stands there many times is written once, with its number, and what is no sign of a keyboard by its code. */
export const legible = (text: string) =>
  text
    .replace(/(.{1,64}?)\1{19,}/gsu, (all, one) => `${one}×${all.length / one.length}`)
    .replace(/[^ -~×“”…]/gu, sign => `<U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`)

/** The fields of an object, one a line. */
export const linesOf = (fields: object) =>
  Object.entries(fields).map(([name, value]) =>
    legible(`  ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  )

/** What stands in one text and not in the other, with what is around it. */
export function otherPart(text: string, plain: string): string {
  let from = 0
  while (from < text.length && text[from] === plain[from]) from++
  let behind = 0
  while (behind < text.length - from && text.at(-1 - behind) === plain.at(-1 - behind)) behind++
  const [first, last] = [Math.max(0, from - AROUND), Math.min(text.length, text.length - behind + AROUND)]
  return `${first > 0 ? '…' : ''}${text.slice(first, last)}${last < text.length ? '…' : ''}`
}

const AROUND = 20
