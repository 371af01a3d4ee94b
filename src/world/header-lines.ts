/** Header lines in their order, each name as it was written. */
export type HeaderLines = readonly (readonly [name: string, value: string])[]

/** `flat`: names and values in turn, as Node and undici read them. */
export function linesOf(flat: readonly string[]): HeaderLines {
  const lines: [string, string][] = []
  for (let i = 0; i + 1 < flat.length; i += 2) lines.push([flat[i]!, flat[i + 1]!])
  return lines
}
