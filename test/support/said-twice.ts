/** Whether people are told the same twice. */

const wordsOf = (text: string) => text.toLowerCase().replace(/\s+/g, ' ')

/** The parts of a cure that stand in what is printed more often than once. */
export function saidTwice(printed: string, fix: string): string[] {
  const all = wordsOf(printed)
  const parts = fix.split(/[.:;,](?:\s|$)/).map(part => wordsOf(part.trim()))
  return parts.filter(part => part.split(' ').length > 2 && all.split(part).length > 2)
}
