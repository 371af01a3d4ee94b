/** What helps if an agent answers a webhook with another status than 2xx, or not at all. */

/** The first that fits. */
const advice: readonly (readonly [statuses: RegExp, text: string])[] = [
  [/^3/, 'Redirects are not followed. Save the URL that it leads to.'],
  [/^40[13]$/, 'It did not accept the signature: it has another secret, or verifies a body that a parser has changed.'],
  [/^40[45]$|^501$/, 'Look at the path in the URL: the agent takes POST at another one.'],
  [/^4(?:00|15|22)$/, 'The agent did not understand the body: it is JSON, with every field of a real webhook.'],
  [/^413$/, 'Let the agent take larger bodies: a task has long texts, and what takes them often stops at 100 KB.'],
  [/^504$/, 'Answer 200 at once, and work afterwards: the connection waits for nothing else.'],
  [/^5/, 'The agent failed: look at its own output.'],
]

/** null: nothing is known to help. */
export const responseAdvice = (status: number): string | null =>
  advice.find(([statuses]) => statuses.test(String(status)))?.[1] ?? null

/** What helps an agent that ended the connection before its response. */
export const CUT_OFF_ADVICE = 'The agent, or a proxy before it, ended the connection: look at its own output.'

export interface UnwelcomeResponse {
  status: number
  /** The header of a redirect. */
  location: string | undefined
  body: string
}

/** Returns what the agent said, and what helps; null if neither is known. */
export function responseHint({ status, location, body }: UnwelcomeResponse): string | null {
  if (location !== undefined && status < 400)
    return `Redirects are not followed. Save the URL that it leads to, ${location.slice(0, LONGEST)}, or give that to dev.`
  const said = status < 400 ? '' : saidIn(body)
  return [said && `It said “${said}”.`, responseAdvice(status)].filter(Boolean).join(' ') || null
}

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
