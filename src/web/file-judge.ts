/** Whether a file that has arrived is one of the kinds that a deliverable may hold. Source: section 2, D22. */
import { createReadStream } from 'node:fs'
import { fileTypeFromFile } from 'file-type'
import { type FileKind, kindOfName } from '../api/file-kinds.ts'
import { limits } from '../api/limits.ts'

const SVG = /<svg[\s>]/i
/** What one piece may hold of an element that the next one completes. */
const LONGEST_HALF = 4

/** The name as it is kept: its last part, without what a path or a header would trip over; null if nothing is left. */
export function plainName(given: string): string | null {
  const name = given.split(/[/\\]/).at(-1) ?? ''
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
  if (/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]/.test(name) || /^\.*$/.test(name)) return null
  return [...name].length > limits.fileName ? null : name
}

/** The kind of the file at `path`, by its name and its bytes; else a sentence that says what is wrong with it. */
export async function judgeFile(name: string, path: string, size: number): Promise<FileKind | string> {
  const kind = kindOfName(name)
  if (!kind) return `${name}: files of this kind are not accepted`
  if (size === 0) return `${name}: the file is empty`
  const fault = await faultOf(kind, path)
  return fault === null ? kind : `${name}: ${fault}`
}

async function faultOf({ judged, extensions }: FileKind, path: string): Promise<string | null> {
  if (judged.by === 'text' || judged.by === 'svg') return textFault(path, judged.by)
  const found = await fileTypeFromFile(path).catch(() => undefined)
  const wanted = judged.by === 'signature' ? judged.as : ['cfb']
  if (found && wanted.includes(found.ext)) return null
  return `its bytes are ${found ? `those of .${found.ext}` : 'of no known kind'}, not of .${extensions[0]}`
}

/** Piece by piece: many may be judged at once, and each may be large. */
async function textFault(path: string, by: 'text' | 'svg'): Promise<string | null> {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let hasSvg = false
  let end = ''
  try {
    for await (const bytes of createReadStream(path)) {
      const text = end + utf8.decode(bytes as Buffer, { stream: true })
      if (text.includes('\0')) return 'it contains NUL'
      hasSvg ||= SVG.test(text)
      end = text.slice(-LONGEST_HALF)
    }
    utf8.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return 'it is not valid UTF-8'
  }
  return by === 'svg' && !hasSvg ? 'it has no svg element' : null
}
