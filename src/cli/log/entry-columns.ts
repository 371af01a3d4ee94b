/** Lays the lines of the log out in columns of a terminal, or one plain line each where there is none. */
import { stripVTControlCharacters } from 'node:util'
import type { StampedEntry } from '../../market/log.ts'
import { placed, sentenceRows } from '../output/text-rows.ts'
import type { Ui } from '../output/ui.ts'
import { type EntryLine, type Names, OUTPUT, tail } from './entry-lines.ts'

const ID_WIDTH = 7
const WHAT_WIDTH = 30
const STATUS_WIDTH = 3
/** So many columns of a sentence stand beside the name of an agent, else it has none. */
const LEAST_WORDS = 16

/** `width`: the columns of the terminal; null if there is none. */
export function entryText(ui: Ui, line: EntryLine, entry: StampedEntry, names: Names, width: number | null): string[] {
  const { colour } = ui
  const moved = offsetOf(entry)
  const time = new Date(entry.realAt).toLocaleTimeString('en-GB') + (moved && ` ${moved}`)
  const id = line.about === null ? '' : tail(line.about)
  const agent = line.agentId === null ? '' : (names.get(line.agentId) ?? tail(line.agentId))
  if (width === null) {
    const cells = [time, id, `${line.mark} ${line.what}`, line.status, line.details, agent, ...line.below, line.help]
    return [cells.filter(Boolean).join('  ')]
  }
  const before = `${colour.dim(time)}  ${colour.dim(id.padEnd(ID_WIDTH))}  `
  const indent = ' '.repeat(widthOf(before) + 2)
  const room = Math.max(20, width - widthOf(before))
  // What is said in words is never cut: it may end in a command.
  const [body = '', ...rest] =
    line.status === '' ? wordRows(line, width, indent, agent) : [cut(bodyOf(shortened(line, room)), room)]
  const gap = room - widthOf(body) - agent.length
  const named = agent && gap >= 2 ? `${' '.repeat(gap)}${colour.dim(agent)}` : ''
  const tone = isDim(line) ? colour.dim : (text: string) => text
  const below = line.below.flatMap(text => sentenceRows(indent + text, width, indent).map(row => colour.dim(row)))
  const help = line.help === null ? [] : placed(line.help, width, indent).map(row => colour.cyan(row))
  return [before + coloured(ui, line, body) + named, ...rest.map(row => tone(row)), ...below, ...help]
}

function bodyOf({ mark, what, status, details }: EntryLine): string {
  if (status === '') return [`${mark} ${what}`, details].filter(Boolean).join('  ')
  return `${mark} ${what.padEnd(WHAT_WIDTH)} ${status.padStart(STATUS_WIDTH)}  ${details}`.trimEnd()
}

/** A long path leaves room for the status and the time behind it. */
function shortened(line: EntryLine, room: number): EntryLine {
  const others = bodyOf({ ...line, what: ''.padEnd(WHAT_WIDTH) }).length - WHAT_WIDTH
  return { ...line, what: middleCut(line.what, Math.max(WHAT_WIDTH, room - others)) }
}

/** All rows but the first stand below the words, not below the mark, which takes two columns. The first leaves room for the agent's name. */
function wordRows(line: EntryLine, width: number, indent: string, agent: string): string[] {
  const beside = agent && width - agent.length - 2
  const firstWidth = beside && beside - indent.length >= LEAST_WORDS ? beside : width
  const [first = '', ...rest] = sentenceRows(indent.slice(2) + bodyOf(line), width, indent, firstWidth)
  return [first.slice(indent.length - 2), ...rest]
}

/** Colours the mark, and the status behind it. */
function coloured({ colour }: Ui, line: EntryLine, body: string): string {
  const { mark, status, isFailure } = line
  if (isDim(line)) return colour.dim(body)
  const tone = isFailure ? colour.red : colour.green
  const rest = body.slice(mark.length)
  const at = status === '' ? -1 : rest.indexOf(` ${status}`, Math.min(WHAT_WIDTH, rest.length))
  const markOf = isFailure ? colour.red : mark === '$' ? colour.yellow : colour.cyan
  if (at === -1) return markOf(mark) + (isFailure ? colour.red(rest) : rest)
  return markOf(mark) + rest.slice(0, at + 1) + tone(status) + rest.slice(at + 1 + status.length)
}

const isDim = ({ mark, isQuiet }: EntryLine) => mark === OUTPUT || isQuiet

const widthOf = (text: string) => stripVTControlCharacters(text).length

const cut = (text: string, room: number) => (text.length > room ? `${text.slice(0, room - 1)}…` : text)

/** Leaves a third at the beginning, and the end, which says more of a path. */
function middleCut(text: string, room: number): string {
  if (text.length <= room) return text
  const first = Math.floor((room - 1) / 3)
  return `${text.slice(0, first)}…${text.slice(first + 1 - room)}`
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How far the simulator's clock is ahead: `+2d04h`; empty if it tells the machine's time. */
function offsetOf({ at, realAt }: StampedEntry): string {
  const ms = at - realAt
  const two = (count: number) => String(Math.floor(count)).padStart(2, '0')
  if (ms < 1_000) return ''
  if (ms < HOUR) return `+${two(ms / MINUTE)}m${two((ms % MINUTE) / 1_000)}s`
  if (ms < DAY) return `+${two(ms / HOUR)}h${two((ms % HOUR) / MINUTE)}m`
  return `+${Math.floor(ms / DAY)}d${two((ms % DAY) / HOUR)}h`
}
