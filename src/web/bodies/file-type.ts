/** Validates the name and the content of an uploaded file. Source: I-file-kinds, A-22. */
import { createReadStream } from 'node:fs'
import { fileTypeFromStream } from 'file-type'
import { type FileKind, kindOfName } from '../../api/file-kinds.ts'
import { limits } from '../../api/limits.ts'
import { codePoints } from '../../api/shapes.ts'

const SVG = /<svg[\s>]/i
/** How many characters of `<svg` one chunk may have if the next chunk completes it. */
const LONGEST_HALF = 4

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
const NOT_IN_A_NAME = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/

/**
 * Returns the last part of the name, as it is stored. Returns null if it is unsafe in a path or a header, empty or too
 * long.
 */
export function plainName(given: string): string | null {
  const name = asBrowsersMeanIt(given).split(/[/\\]/).at(-1) ?? ''
  if (NOT_IN_A_NAME.test(name) || /^\.*$/.test(name) || !name.isWellFormed()) return null
  return codePoints(name) > limits.fileName ? null : name
}

/** Browsers escape only these three characters in a file name, so `100%25.png` stays as it is. Source: WHATWG HTML. */
const asBrowsersMeanIt = (given: string) => given.replace(/%(?:22|0A|0D)/gi, escaped => decodeURIComponent(escaped))

/** Whether the operating system reported the error: then it is our fault and not the sender's. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).errno === 'number'

/** Returns the kind of the file at `path`, by its name and its bytes; else a sentence that says what is wrong with it. */
export async function judgeFile(name: string, path: string, size: number): Promise<FileKind | string> {
  const kind = kindOfName(name)
  if (!kind) return `${name}: files of this kind are not accepted`
  if (size === 0) return `${name}: the file is empty`
  const fault = await faultOf(kind, path)
  return fault === null ? kind : `${name}: ${fault}`
}

async function faultOf({ judged, extensions }: FileKind, path: string): Promise<string | null> {
  if (judged.by === 'text' || judged.by === 'svg') return textFault(path, judged.by)
  const found = await signatureOf(path)
  const wanted = judged.by === 'signature' ? judged.as : ['cfb']
  if (found && wanted.includes(found.ext)) return null
  return `its bytes are ${found ? `those of .${found.ext}` : 'of no known kind'}, not of .${extensions[0]}`
}

/**
 * Detects the type by its signature. It opens the stream itself, because the library would leave the file open after an
 * error.
 */
async function signatureOf(path: string) {
  const stream = createReadStream(path)
  const closed = new Promise<void>(resolve => stream.once('close', () => resolve()))
  let fault: Error | undefined
  stream.once('error', error => {
    fault = error
  })
  try {
    const found = await fileTypeFromStream(stream)
    if (fault) throw fault
    return found
  } catch (error) {
    if (fault ?? isSystemError(error)) throw fault ?? error
    return undefined // the file ends in the middle of its own format
  } finally {
    stream.destroy()
    await closed
  }
}

/**
 * Returns what is wrong with a text file, null if nothing. It reads in chunks, as many large files may be checked at once.
 */
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
