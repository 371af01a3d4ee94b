/** Reads JSON from a command's arguments: literal, from a file, or from stdin. */
import { readFile } from 'node:fs/promises'
import { UsageError } from '../../settings/config.ts'
import { diskReason } from '../output/disk-faults.ts'

/** Reads `@file`, `-` for stdin, or the JSON itself. Returns the text exactly as it is. */
export async function jsonGiven(flag: string, given: string): Promise<string> {
  const [text, from] =
    given === '-'
      ? [await stdinText(`${flag} -`), `${flag} (from stdin)`]
      : given.startsWith('@')
        ? [await fileText(flag, given.slice(1)), `${flag} (${given.slice(1)})`]
        : [given, flag]
  try {
    JSON.parse(text)
    return text
  } catch (error) {
    // Later versions of Node add the line and the column, of what mostly is one line.
    const why = (error as Error).message.replace(/ \(line \d+ column \d+\)$/, '')
    const advice = from === flag ? ` Quote it like '{"name": "value"}'.` : ''
    throw new UsageError(`${from} is not JSON: ${why}.${advice}`)
  }
}

/** Reads `@file`, `-` for stdin, or the text itself. */
export function textGiven(flag: string, given: string): Promise<string> | string {
  if (given === '-') return stdinText(`${flag} -`)
  return given.startsWith('@') ? fileText(flag, given.slice(1)) : given
}

/** Returns the JSON object in a file; `-` is stdin. */
export async function objectIn(flag: string, file: string): Promise<Record<string, unknown>> {
  const value = JSON.parse(await jsonGiven(flag, file === '-' ? '-' : `@${file}`))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new UsageError(`${flag} must hold a JSON object.`)
}

const fileText = async (flag: string, path: string) => (await fileBytes(flag, path)).toString('utf8')

async function fileBytes(flag: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : diskReason(error as Error)
    throw new UsageError(`${flag}: ${path} can't be read: ${why}.`)
  }
}

/** Returns the lines of stdin. */
export const linesOfStdin = async (flag: string) => (await stdinText(flag)).split(/\r?\n/)

/** Returns the first line of stdin. */
export const passwordFromStdin = async () => (await linesOfStdin('--password-stdin'))[0] ?? ''

const stdinText = async (flag: string) => (await stdinBytes(`${flag} reads stdin: pipe something in.`)).toString('utf8')

/** Reads stdin to its end. On a terminal it refuses with `words`. */
async function stdinBytes(words: string): Promise<Buffer> {
  if (process.stdin.isTTY) throw new UsageError(words)
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Returns the bytes of a file, or of stdin if none is given. */
export async function bytesGiven(flag: string, path: string | undefined): Promise<Buffer> {
  if (path === undefined || path === '-')
    return stdinBytes(`The body comes on stdin, or from a file: ${flag} body.json.`)
  return fileBytes(flag, path)
}

/** Parses a whole number within bounds. */
export function numberGiven(flag: string, text: string, [min, max]: readonly [number, number]): number {
  const value = Number(text)
  if (/^\d{1,12}$/.test(text) && value >= min && value <= max) return value
  throw new UsageError(`${flag} takes a whole number from ${min} to ${max}, not ${text}.`)
}
