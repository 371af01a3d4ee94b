/**
 * Rows that stay at the bottom of a terminal while text is printed above them. There is no other screen: what is printed stays
 * in the scroll-back. The cursor stands at the beginning of the first row. So all rows can be erased even where a narrower
 * window has wrapped them.
 */

/** Text and rows are written together, once in this time: many lines cost few writes, and the rows do not flicker. */
const FRAME_MS = 20

const ERASE = '\r\u001b[J'
// A row that is too wide, as with characters of double width, must not become two.
const [NO_WRAP, WRAP] = ['\u001b[?7l', '\u001b[?7h']

export class BottomRows {
  readonly #write: (text: string) => unknown
  readonly #rows: () => readonly string[]
  #text = ''
  #timer: NodeJS.Timeout | undefined
  #isOpen = false

  constructor(write: (text: string) => unknown, rows: () => readonly string[]) {
    this.#write = write
    this.#rows = rows
  }

  open(): void {
    this.#isOpen = true
    this.refresh()
  }

  /** Prints above the rows. What has no end of line yet waits for it. */
  print(text: string): void {
    if (!this.#isOpen) this.#write(text)
    else {
      this.#text += text
      this.refresh()
    }
  }

  /** Writes the rows anew, soon. */
  refresh(): void {
    if (this.#isOpen) this.#timer ??= setTimeout(this.#draw, FRAME_MS)
  }

  /** Removes the rows. May be called again, and when the process ends. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#write(ERASE + this.#cut(this.#text.length))
  }

  #draw = () => {
    this.#timer = undefined
    const text = this.#cut(this.#text.lastIndexOf('\n') + 1)
    const rows = this.#rows()
    const up = rows.length > 1 ? `\u001b[${rows.length - 1}A` : ''
    this.#write(`${ERASE}${text}${NO_WRAP}${rows.join('\r\n')}${WRAP}${up}\r`)
  }

  #cut(length: number): string {
    const text = this.#text.slice(0, length)
    this.#text = this.#text.slice(length)
    return text
  }
}
