/** Whether a file that has arrived is one of the kinds that a deliverable may hold. Source: section 2, D22. */
import { readFile } from 'node:fs/promises'
import { fileTypeFromFile } from 'file-type'
import { type FileKind, kindOfName } from '../api/file-kinds.ts'
import { limits } from '../api/limits.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

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
  if (judged.by === 'text' || judged.by === 'svg') return textFault(await readFile(path), judged.by)
  const found = await fileTypeFromFile(path).catch(() => undefined)
  const wanted = judged.by === 'signature' ? judged.as : ['cfb']
  if (found && wanted.includes(found.ext)) return null
  return `its bytes are ${found ? `those of .${found.ext}` : 'of no known kind'}, not of .${extensions[0]}`
}

function textFault(bytes: Buffer, by: 'text' | 'svg'): string | null {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return 'it is not valid UTF-8'
  }
  if (text.includes('\0')) return 'it contains NUL'
  return by === 'svg' && !/<svg[\s>]/i.test(text) ? 'it has no svg element' : null
}
