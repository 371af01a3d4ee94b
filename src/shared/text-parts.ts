/** So many characters of a text are escaped or encoded at once. */
export const AT_ONCE = 16 * 1024
const HIGH_SURROGATES = 0xd800 >> 10

/** A text in parts that can be escaped or encoded each by itself: no pair of surrogates is parted. */
export function* partsOf(text: string, most = AT_ONCE): Generator<string, void> {
  for (let from = 0; from < text.length; ) {
    let to = from + most
    if (text.charCodeAt(to - 1) >> 10 === HIGH_SURROGATES) to--
    yield text.slice(from, to)
    from = to
  }
}
