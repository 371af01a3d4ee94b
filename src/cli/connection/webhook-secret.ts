/** Reads a webhook secret from where people keep it. */
import { readFileSync } from 'node:fs'
import { environment, UsageError } from '../../settings/config.ts'
import type { Option } from '../command-line/command.ts'
import { diskReason } from '../output/disk-faults.ts'
import { type CommandOutput, canAsk } from '../output/output.ts'
import { askHidden } from '../output/prompts.ts'

export interface SecretFlags {
  secret?: string
  secretFile?: string
}

const VARIABLE = 'MARKETPLACE_WEBHOOK_SECRET'

export const secretOptions: readonly Option[] = [
  ['--secret-file <path>', `a file with the webhook secret (default: the variable ${VARIABLE}, else it is asked for)`],
  ['--secret <whsec>', 'the secret itself; others on this machine can see it'],
]

/**
 * Throws a UsageError if there is none. The text is returned as it stands, but for the end of a file's last line. `found`: what is
 * taken before anybody is asked.
 */
export async function secretGiven(
  { secret, secretFile }: SecretFlags,
  { notes }: CommandOutput,
  found?: string,
): Promise<string> {
  if (secret !== undefined && secretFile !== undefined) {
    throw new UsageError('--secret and --secret-file both name a secret: give one of them.')
  }
  if (secret !== undefined) {
    const warning = `--secret stays in the shell's history, and every program here can see it: use --secret-file or ${VARIABLE}.`
    notes.line(notes.colour.yellow(warning))
  }
  const text = secret ?? (secretFile === undefined ? await secretElsewhere(found) : secretIn(secretFile))
  if (text.trim() === '') throw new UsageError('The webhook secret is empty.')
  return text
}

async function secretElsewhere(found: string | undefined): Promise<string> {
  const known = environment()[VARIABLE] ?? found
  if (known !== undefined) return known
  if (canAsk()) return askHidden('The webhook secret (whsec_…)')
  throw new UsageError(`Which secret? Give --secret-file secret.txt, or set ${VARIABLE}.`)
}

function secretIn(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new UsageError(`--secret-file: ${path} can't be read: ${diskReason(error as Error)}.`)
  }
}
