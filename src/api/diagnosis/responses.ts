/** What is wrong if an agent answers a webhook with another status than 2xx, or not at all. */
import type { Finding } from './record.ts'
import type { Cause } from './table.ts'

/** What is known of one attempt at a webhook. */
export interface Answered {
  readonly url?: string | null
  /** null: there was no response. */
  readonly status: number | null
  /** Why there was none. */
  readonly reason: string | null
  readonly message: string
  /** The header of a redirect. */
  readonly location?: string | null | undefined
  /** The body of the response. */
  readonly body?: string | null
}

type Known = readonly [cause: Cause, certainty: Finding['certainty']]

/** The first that fits. What the status itself says is sure, what it makes one think of is likely. */
const byStatus: readonly (readonly [statuses: RegExp, ...Known])[] = [
  [/^3/, 'redirect', 'sure'],
  [/^40[13]$/, 'refused_by_agent', 'likely'],
  [/^404$/, 'wrong_path', 'likely'],
  [/^405$|^501$/, 'wrong_method', 'likely'],
  [/^410$/, 'gone', 'sure'],
  [/^4(?:00|15|22)$/, 'not_understood', 'likely'],
  [/^413$/, 'too_large', 'likely'],
  [/^429$/, 'too_busy', 'sure'],
  [/^50[23]$/, 'agent_away', 'likely'],
  [/^504$/, 'too_slow', 'likely'],
  [/^5/, 'agent_failed', 'sure'],
  [/^2/, 'not_200', 'sure'],
]

const byReason: Readonly<Record<string, Known>> = {
  refused: ['nobody_listens', 'sure'],
  dns: ['unknown_name', 'sure'],
  timeout: ['too_slow', 'likely'],
  reset: ['cut_off', 'likely'],
  tls: ['bad_tls', 'sure'],
  bad_answer: ['no_http', 'likely'],
  private_address: ['forbidden_address', 'sure'],
  forbidden_port: ['forbidden_address', 'sure'],
  https_required: ['no_https', 'sure'],
  bad_url: ['bad_url', 'sure'],
  own_fault: ['own_fault', 'sure'],
  armed_fault: ['armed_fault', 'sure'],
}

/** The webhook URL of agents that are down on purpose: the discard port of this machine, where nothing listens. */
export const NOWHERE = 'https://localhost:9/webhook'

/** What is wrong with an answer that is none of 2xx (or of 200, where `wanted` says so). */
export function answerFinding(answered: Answered, wanted = 'a 2xx'): Finding {
  const { url, status, reason, message, location } = answered
  if (url === NOWHERE && status === null) return { cause: 'down_on_purpose', certainty: 'sure', text: message }
  if (status === null) {
    const [cause, certainty] = byReason[reason ?? ''] ?? (['own_fault', 'likely'] as const)
    return { cause, certainty, text: message }
  }
  const [, cause, certainty] = byStatus.find(([statuses]) => statuses.test(String(status))) ?? UNKNOWN
  const to = location ? ` It leads to ${location.slice(0, LONGEST)} .` : ''
  const said = status < 400 ? '' : saidIn(answered.body ?? '')
  const words = said && ` It said “${said}”.`
  const text = `The agent answered ${status}; ${wanted} is needed.${to}${words}`
  return { cause, certainty, text, location: location ?? null, evidence: { status } }
}

const UNKNOWN = [/./, 'odd_status', 'sure'] as const

const LONGEST = 160
/** Of a longer body only so much is looked at: looking for tags takes the square of its length. */
const LOOKED_AT = 4_000

/** The words of an error: the field of a JSON body that has them, or a text without its tags. */
export function saidIn(whole: string): string {
  const body = whole.slice(0, LOOKED_AT)
  const text = (fieldIn(body) ?? body.replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]*>/gi, ' '))
    .replace(/\s+/g, ' ')
    .trim()
  return text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}…` : text
}

function fieldIn(body: string): string | undefined {
  try {
    const { error, message, detail } = JSON.parse(body)
    return [error, error?.message, message, detail].find(field => typeof field === 'string')
  } catch {
    return undefined
  }
}
