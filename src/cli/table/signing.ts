/** The commands about signatures. */
import type { CommandRecord } from '../command-line/command.ts'
import { jsonOnce } from '../command-line/options.ts'
import type { SignFlags } from '../commands/sign.ts'
import type { VerifyFlags } from '../commands/verify.ts'
import { secretOptions } from '../connection/webhook-secret.ts'
import { exitCodes } from '../exit-codes.ts'

const body = ['--file <path>', 'the body, to the last byte (default: stdin)'] as const

const verify: CommandRecord = {
  name: 'verify',
  summary: 'Say whether a signature is right, and if not, why',
  options: [
    body,
    ['-H, --header <line...>', "a header of the request: 'Name: value'; the more, the better"],
    ['--timestamp <ms>', 'instead of the header X-Service-Timestamp'],
    ['--signature <hex>', 'instead of the header X-Service-Signature'],
    ...secretOptions,
    ['--any-age', 'accept a timestamp of any time'],
    jsonOnce,
  ],
  notes: `Exit code ${exitCodes.check}: the signature is not right; the answer says why. Nothing leaves this machine.`,
  examples: [
    'marketplace verify --file body.json --timestamp 1767225600000 --signature e36f020e --secret-file secret.txt',
    "marketplace verify --any-age --file body.json --secret-file secret.txt --header 'X-Service-Timestamp: 1767225600000' --header 'X-Service-Signature: e36f020e' --json",
  ],
  run: async (_, flags: VerifyFlags) => (await import('../commands/verify.ts')).verify(flags),
}

const sign: CommandRecord = {
  name: 'sign',
  summary: 'Sign a body; print the headers, or a curl line',
  options: [
    body,
    ['--curl <url>', 'print a curl line for this address'],
    ['--timestamp <ms>', 'Unix time in milliseconds (default: now)'],
    ...secretOptions,
    jsonOnce,
  ],
  notes: 'A signature is accepted for five minutes before and after its timestamp.',
  examples: [
    'marketplace sign --file body.json --secret-file secret.txt',
    'marketplace sign --file body.json --secret-file secret.txt --curl http://127.0.0.1:3000/webhook',
  ],
  run: async (_, flags: SignFlags) => (await import('../commands/sign.ts')).sign(flags),
}

export const signing: readonly CommandRecord[] = [verify, sign]
