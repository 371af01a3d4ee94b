/** `marketplace sign`: prints the two headers of a signed request, or a curl line that sends it. */
import { shellWord } from '../../api/command-line.ts'
import { signatureHeaders } from '../../api/signature.ts'
import { UsageError } from '../../settings/config.ts'
import { bytesGiven } from '../command-line/json-input.ts'
import { type SecretFlags, secretGiven } from '../connection/webhook-secret.ts'
import { type AnswerFlags, withOutput } from '../output/output.ts'

export interface SignFlags extends AnswerFlags, SecretFlags {
  file?: string
  timestamp?: string
  curl?: string
}

export const sign = (flags: SignFlags) =>
  withOutput(flags, async output => {
    const at = timeOf(flags.timestamp)
    const secret = await secretGiven(flags, output)
    const body = await bytesGiven('--file', flags.file)
    const headers = signatureHeaders(secret, at, body)
    const line = flags.curl === undefined ? undefined : curlLine(flags.curl, headers, { body, file: flags.file })
    return output.answer({ headers, ...(line !== undefined && { curl: line }) }, () => {
      if (line !== undefined) output.out.raw(line)
      else for (const [name, value] of Object.entries(headers)) output.out.raw(`${name}: ${value}`)
    })
  })

function timeOf(text: string | undefined): number {
  if (text === undefined) return Date.now()
  if (/^\d{13}$/.test(text)) return Number(text)
  throw new UsageError(`--timestamp takes the Unix time in milliseconds, 13 digits, not ${text}.`)
}

interface Content {
  body: Buffer
  file: string | undefined
}

function curlLine(url: string, headers: Readonly<Record<string, string>>, { body, file }: Content): string {
  if (!URL.canParse(url)) throw new UsageError(`--curl takes an address like http://127.0.0.1:4000/…, not ${url}.`)
  const all = { 'Content-Type': 'application/json', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`)
  return ['curl -sS', shellWord(url), ...lines, dataOf(body, file)].join(' ')
}

/** `--data` would drop line breaks, and read a file where a text begins with @. */
function dataOf(body: Buffer, file: string | undefined): string {
  if (file !== undefined && file !== '-') return `--data-binary ${shellWord(`@${file}`)}`
  const text = body.toString()
  if (text.includes('\0') || !Buffer.from(text).equals(body)) {
    throw new UsageError('This body does not fit into a command: save it, and name it by --file.')
  }
  return `--data-raw ${shellWord(text)}`
}
