/** A body for people: JSON on a terminal indented and coloured, anything else as it is. */
import { plain, type Ui } from './ui.ts'

/** Of a longer one only this much is coloured: the rest follows as it is. */
const MOST = 200_000

export function jsonText({ colour, columns }: Ui, text: string): string {
  if (columns === null || text.length > MOST) return plain(text)
  try {
    const indented = JSON.stringify(JSON.parse(text), null, 2)
    const words = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g
    return indented
      .split('\n')
      .map(line =>
        plain(line).replace(words, (word, string: string | undefined, colon: string | undefined) =>
          string === undefined
            ? colour.yellow(word)
            : colon === undefined
              ? colour.green(word)
              : colour.cyan(string) + colon,
        ),
      )
      .join('\n')
  } catch {
    return plain(text)
  }
}
