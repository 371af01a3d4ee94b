/** What the rows at the bottom say: counts and keys, or a list to choose from, or the filter that is being typed. Pure. */
import type { Colours } from '../output/colours.ts'
import type { Counts } from './counts.ts'
import type { Mode } from './key-presses.ts'

export interface KeyLine {
  readonly counts: Pick<Counts, 'exchanges' | 'failures' | 'waiting'>
  readonly mode: Mode<{ readonly label: string }>
  /** Only lines with it are shown; empty: all. */
  readonly filter: string
  /** How many entries it has left out. */
  readonly hidden: number
  /** What is being done. */
  readonly busy: readonly string[]
}

interface Window {
  readonly columns: number
  readonly rows: number
}

/** So many choices are shown at once, if the window has room. */
const MOST_CHOICES = 8

export function bottomRows(line: KeyLine, window: Window, colour: Colours): string[] {
  const { mode } = line
  // The last column stays free: a terminal may wrap a row that ends there.
  const room = window.columns - 1
  if (mode.is === 'choosing') return choiceRows(mode, { ...window, columns: room }, colour)
  if (mode.is === 'filtering') {
    const shown = piece(`/${mode.text.slice(-room)}_`, colour.cyan)
    return [
      fitted(
        [shown],
        keyPieces(colour, [
          ['Enter', 'only lines with it'],
          ['Esc', 'all lines'],
        ]),
        room,
      ),
    ] // prettier-ignore
  }
  return [fitted(statePieces(line, colour), keyPieces(colour, usualKeys), room)]
}

/** The most useful first: those that fit are shown, and `?` always. */
const usualKeys: readonly (readonly [key: string, word: string])[] = [
  ['?', 'help'],
  ['r', 'resend'],
  ['t', 'test'],
  ['b', 'buyer'],
  ['d', 'details'],
  ['/', 'filter'],
  ['q', 'quit'],
  ['o', 'console'],
  ['c', 'clock'],
  ['R', 'resend one'],
  ['a', 'accounts'],
]

/** A text, and how it looks. */
interface Piece {
  readonly text: string
  readonly shown: string
}

const piece = (text: string, look: (text: string) => string): Piece => ({ text, shown: look(text) })

const keyPieces = (colour: Colours, all: readonly (readonly [key: string, word: string])[]) =>
  all.map(([key, word]) => ({ text: `${key} ${word}`, shown: `${colour.cyan(key)} ${colour.dim(word)}` }))

function statePieces({ counts, filter, hidden, busy }: KeyLine, colour: Colours): Piece[] {
  const { exchanges, failures, waiting } = counts
  const count = (number: number, one: string, look: (text: string) => string = colour.dim) =>
    piece(`${number} ${one}${number === 1 ? '' : 's'}`, look)
  return [
    ...(filter === '' ? [] : [piece(`/${filter} hides ${hidden}`, colour.cyan)]),
    count(exchanges, 'exchange'),
    count(failures, 'failure', failures > 0 ? colour.red : colour.dim),
    piece(`${waiting} waiting`, waiting > 0 ? colour.yellow : colour.dim),
    ...busy.map(what => piece(`${what}…`, colour.yellow)),
  ]
}

const GAP = '  '

/** As many pieces as there is room for. What is being told goes before keys, but for the first of them. */
function fitted(told: readonly Piece[], keys: readonly Piece[], room: number): string {
  const [first, ...more] = keys.filter(({ text }) => text.length <= room)
  let left = room - (first?.text.length ?? 0)
  const fits = ({ text }: Piece) => {
    const needs = text.length + GAP.length
    if (needs > left) return false
    left -= needs
    return true
  }
  const shown = [...told.filter(fits), ...more.filter(fits), ...(first ? [first] : [])]
  return shown.map(one => one.shown).join(GAP)
}

type Choosing = Extract<KeyLine['mode'], { is: 'choosing' }>

function choiceRows({ choices, at }: Choosing, { columns, rows }: Window, colour: Colours): string[] {
  const most = Math.max(1, Math.min(MOST_CHOICES, rows - 2))
  const from = Math.max(0, Math.min(at - Math.floor(most / 2), choices.length - most))
  const shown = choices.slice(from, from + most).map(({ label }, index) => {
    const text = `${from + index === at ? '›' : ' '} ${label}`.slice(0, columns)
    return from + index === at ? colour.bold(text) : colour.dim(text)
  })
  const told = [piece(`${at + 1} of ${choices.length}`, colour.yellow)]
  const words = [
    ['Enter', 'resends it'],
    ['j', 'older'],
    ['k', 'newer'],
    ['Esc', 'none'],
  ] as const // prettier-ignore
  return [...shown, fitted(told, keyPieces(colour, words), columns)]
}

/** All keys, in rows that are printed. */
export const keyHelp: readonly string[] = [
  '',
  '  r  resend the last webhook             R  choose one of the last 50',
  '  t  test your agent                     b  a simulated buyer hires it',
  '  c  move the clock to what is due next  d  show the last exchange',
  '  /  show only lines with a text         Esc  show all lines again',
  '  o  the console, in a browser           a  accounts, keys and secrets',
  '  Enter  an empty line',
  '  q  or Ctrl-C: end in order; Ctrl-C again ends at once',
  '',
]
