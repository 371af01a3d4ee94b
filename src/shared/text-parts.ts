/** So many characters of a text are escaped or encoded at once. */
export const AT_ONCE = 16 * 1024
const HIGH_SURROGATES = 0xd800 >> 10

/** The control characters that JSON escapes with one letter; the others take six. */
const SHORT_ESCAPES = '\b\t\n\f\r'

/** How many characters its JSON has between the quotes. Nothing is made of it. */
export function jsonLengthOf(text: string): number {
  let { length } = text
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20) length += SHORT_ESCAPES.includes(text[at]!) ? 1 : 5
    else if (code === 0x22 || code === 0x5c) length++
  }
  return length
}

/** A text in parts that can be escaped or encoded each by itself: no pair of surrogates is parted. */
export function* partsOf(text: string, most = AT_ONCE): Generator<string, void> {
  for (let from = 0; from < text.length; ) {
    let to = from + most
    if (text.charCodeAt(to - 1) >> 10 === HIGH_SURROGATES) to--
    yield text.slice(from, to)
    from = to
  }
}
