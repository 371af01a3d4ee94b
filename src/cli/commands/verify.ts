/** `marketplace verify`: says whether a signed request is right, and if not, why. */
import { type Diagnosis, diagnose } from '../../api/diagnosis/diagnose.ts'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../api/signature.ts'
import { asTypedHere, UsageError } from '../../settings/config.ts'
import { bytesGiven } from '../command-line/json-input.ts'
import { type SecretFlags, secretGiven } from '../connection/webhook-secret.ts'
import { exitCodes } from '../exit-codes.ts'
import { type AnswerFlags, type CommandOutput, withOutput } from '../output/output.ts'
import { plain } from '../output/ui.ts'

export interface VerifyFlags extends AnswerFlags, SecretFlags {
  file?: string
  header?: readonly string[]
  timestamp?: string
  signature?: string
  anyAge?: boolean
}

/** Exits with 0 if the signature is right, else with 3. */
export const verify = (flags: VerifyFlags) =>
  withOutput(flags, async output => {
    const headers = headersOf(flags)
    const secret = await secretGiven(flags, output)
    const body = await bytesGiven('--file', flags.file)
    const now = flags.anyAge ? signedAt(headers) : Date.now()
    const diagnosis = diagnose({ headers, body }, [{ secret, kind: 'current' }], now)
    output.answer({ verified: diagnosis === null, diagnosis }, () => show(output, diagnosis, body.length))
    return diagnosis === null ? exitCodes.ok : exitCodes.check
  })

function show({ out, notes }: CommandOutput, diagnosis: Diagnosis | null, bytes: number): void {
  if (diagnosis === null) {
    out.line(`${out.colour.green('✔')} The signature is right, over a body of ${bytes} bytes`)
    return
  }
  out.line(`${out.colour.red('✖')} ${plain(diagnosis.text)}`)
  notes.line(`  ${asTypedHere(diagnosis.fix)}`)
}

type Header = readonly [name: string, value: string]

function headersOf({ header = [], timestamp, signature }: VerifyFlags): Header[] {
  const named: Header[] = header.map(line => {
    const [, name, value] = /^([^\s:]+)\s*:\s*(.*?)\s*$/s.exec(line) ?? []
    if (name === undefined) throw new UsageError(`--header takes a line like '${TIMESTAMP_HEADER}: 1767225600000'.`)
    return [name, value!]
  })
  if (timestamp !== undefined) named.push([TIMESTAMP_HEADER, timestamp])
  if (signature !== undefined) named.push([SIGNATURE_HEADER, signature])
  if (named.length > 0) return named
  throw new UsageError(
    `Which signature? Give the headers of the request: --timestamp and --signature, or each as --header 'Name: value'.`,
  )
}

/** The time that the request itself names, so that one of yesterday can be verified too. */
function signedAt(headers: readonly Header[]): number {
  const [, value = ''] = headers.find(([name]) => name.toLowerCase() === TIMESTAMP_HEADER.toLowerCase()) ?? []
  return /^\d{13}$/.test(value) ? Number(value) : Date.now()
}
