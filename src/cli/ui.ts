/** What people see: colours on terminals alone, and nothing in foreign data that could steer one. */
import { Chalk, type ChalkInstance } from 'chalk'
import { wantsColour } from '../config.ts'

export interface Ui {
  readonly colour: ChalkInstance
  line(text?: string): void
  /** For programs: one object on one line. */
  json(value: unknown): void
}

/** chalk itself would colour a terminal that asked for none. */
export function createUi(stream: NodeJS.WriteStream = process.stdout): Ui {
  const colour = new Chalk({ level: wantsColour(stream) ? 1 : 0 })
  return {
    colour,
    line: (text = '') => void stream.write(`${text}\n`),
    json: value => void stream.write(`${JSON.stringify(value)}\n`),
  }
}

// Control characters, and those that turn the direction of writing.
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Data from outside, safe to print. */
export const plain = (text: string) => text.replace(STEERING, ' ')

export const money = (cents: number) =>
  (cents / 100).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
