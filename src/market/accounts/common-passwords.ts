/**
 * Refuses passwords that an attacker tries first: 49,000 that leaked most often, also with a few characters around them,
 * and words that anyone knows of the account. Source: A-196.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { invalid } from '../../api/failures.ts'
import { codePoints } from '../../api/shapes.ts'
import type { Config } from '../../settings/config.ts'

const require = createRequire(import.meta.url)

/** The list as the package has it, a JSON array. As one text it takes 500 kB; as a set of words it would take 7 MB. */
let list: string | undefined

async function listed(): Promise<string> {
  // If it can't be read now, the next call tries again.
  list ??= await readFile(require.resolve('@zxcvbn-ts/language-common/src/passwords.json'), 'utf8')
  return list
}

/** A common password with up to so many digits and signs around it is still common. */
const DECORATION = 8
/** How many other characters a password needs besides words that are known of the account. */
const OWN_PART = 6
/** How many different characters a password needs. */
const DIFFERENT = 4
/** Shorter words occur in too many passwords by chance. */
const KNOWN_WORD = 4

/** What anyone may know of the account. */
export interface Owner {
  readonly email: string
  readonly name: string
}

/** Refuses a password that is easy to guess, with an error for this field. */
export async function refuseGuessable(
  field: 'password' | 'newPassword',
  password: string,
  owner: Owner,
  config: Pick<Config, 'baseUrl'>,
): Promise<void> {
  const fault = await guessable(password, owner, config)
  if (fault) throw invalid({ [field]: [fault] })
}

/** Returns why the password is easy to guess, in words that follow the field's name; null if it is not. */
export async function guessable(
  password: string,
  owner: Owner,
  { baseUrl }: Pick<Config, 'baseUrl'>,
): Promise<string | null> {
  const folded = password.normalize('NFKC').toLowerCase()
  if (isMonotonous(folded)) return 'repeats a few characters or counts them up; mix more of them, or take several words'
  if (await isCommon(folded))
    return 'is one of those that are guessed first; take several words that do not belong together'
  if (isKnown(folded, knownWords(owner, baseUrl)))
    return 'is little more than your own name or email, or that of the marketplace; add words that nobody would expect'
  return null
}

/** `aaaaaaaaaa`, `ababababab`, `abcdefghij`, `9876543210`. */
function isMonotonous(folded: string): boolean {
  const points = [...folded].map(sign => sign.codePointAt(0)!)
  if (new Set(points).size < DIFFERENT) return true
  const step = points[1]! - points[0]!
  return Math.abs(step) === 1 && points.every((point, at) => at === 0 || point - points[at - 1]! === step)
}

/** Whether the list has it as it is, or without the digits and signs at its ends: `monkey1234`, `!!dragon87`. */
async function isCommon(folded: string): Promise<boolean> {
  const words = await listed()
  const has = (word: string) => words.includes(JSON.stringify(word))
  const core = folded.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  const decorated = core.length >= KNOWN_WORD && codePoints(folded) - codePoints(core) <= DECORATION
  return has(folded) || (decorated && has(core))
}

function knownWords({ email, name }: Owner, baseUrl: string): string[] {
  const [local = '', domain = ''] = email.toLowerCase().split('@')
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
  const parts = [email, local, domain, name.normalize('NFKC').toLowerCase(), host, 'agent-marketplace', 'marketplace']
  const words = parts.flatMap(part => [part, ...part.split(/[^\p{L}\p{N}]+/u)])
  return words.filter(word => word.length >= KNOWN_WORD).sort((a, b) => b.length - a.length)
}

/**
 * Whether the password has hardly more than these words. The longest come first, so that no part of a longer one is left.
 */
function isKnown(folded: string, words: readonly string[]): boolean {
  const rest = words.reduce((left, word) => left.replaceAll(word, ''), folded)
  return rest !== folded && codePoints(rest.replace(/[^\p{L}\p{N}]/gu, '')) < OWN_PART
}
