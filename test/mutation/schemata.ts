/** Writes many mutants into one text, each behind a switch, so that one build holds them all. */
import { posix } from 'node:path'
import type { Body, Scene } from './find.ts'
import type { Mutant, Span } from './mutant.ts'

/** A mutant, or a function to notice the entry of, under its number. */
export type Place = { readonly number: number } & ({ readonly mutant: Mutant } | { readonly body: Body })

/** Where lines of code begin with an expression. */
type Openings = Scene['openings']

interface Node extends Span {
  /** All of one range. */
  readonly places: Place[]
  readonly inner: Node[]
}

const SWITCH = '__mutantOn'
export const SWITCH_FILE = 'src/mutation-switch.ts'

export function withSwitches(file: string, source: string, places: readonly Place[], openings: Openings): string {
  if (places.length === 0) return source
  const root: Node = { start: 0, end: source.length, places: [], inner: [] }
  for (const place of inOrder(places)) insert(root, place)
  const from = posix.relative(posix.dirname(file), SWITCH_FILE)
  return `import { on as ${SWITCH} } from '${from.startsWith('.') ? from : `./${from}`}'\n${inside(root, source, openings)}`
}

const spanOf = (place: Place): Span => ('mutant' in place ? place.mutant : place.body)

/** Outer ranges first: ranges of one syntax tree never cross. */
const inOrder = (places: readonly Place[]) =>
  [...places].sort((a, b) => spanOf(a).start - spanOf(b).start || spanOf(b).end - spanOf(a).end || a.number - b.number)

function insert(into: Node, place: Place): void {
  const { start, end } = spanOf(place)
  const last = into.inner.at(-1)
  if (last && last.start === start && last.end === end) last.places.push(place)
  else if (last && start >= last.start && end <= last.end) insert(last, place)
  else into.inner.push({ start, end, places: [place], inner: [] })
}

/** The text of a range, with the switches of all that lies in it. */
function inside({ start, end, inner }: Node, source: string, openings: Openings): string {
  let text = ''
  let at = start
  for (const node of inner) {
    text += source.slice(at, node.start) + switched(node, source, openings)
    at = node.end
  }
  return text + source.slice(at, end)
}

function switched(node: Node, source: string, openings: Openings): string {
  const mutants = node.places.flatMap(place => ('mutant' in place ? [{ ...place.mutant, number: place.number }] : []))
  const isExpression = mutants[0]?.kind === 'expression'
  const opens = isExpression && openings.has(node.start)
  // What begins the expression of this line begins no line itself.
  let text = inside(node, source, isExpression ? without(openings, node.start) : openings)
  for (const place of node.places) if ('body' in place) text = entering(text, place)
  for (const { number, at, until, text: change } of mutants) {
    const changed = source.slice(node.start, at) + change + source.slice(until, node.end)
    text = isExpression
      ? `(${SWITCH}(${number}) ? (${changed}) : (${text}))`
      : `if (${SWITCH}(${number})) { ${changed} } else { ${text} }`
  }
  // Without semicolons, a line that begins with a bracket would go on with the one before.
  return opens ? `;${text}` : text
}

const entering = (text: string, { number, body }: Place & { body: Body }) =>
  body.isBlock ? `{ ${SWITCH}(${number});${text.slice(1)}` : `(${SWITCH}(${number}), (${text}))`

const without = (openings: Openings, start: number) =>
  openings.has(start) ? new Set([...openings].filter(one => one !== start)) : openings
