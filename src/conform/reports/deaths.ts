/** That the agent has ended in the midst of the run, in words. */
import type { History } from '../history.ts'
import { deathDecides, type Report, type ReportedDeath } from '../report.ts'
import { webhookInWords } from './words.ts'

const MOST_WORDS = 8
/** Of a stack the first line of code is enough. */
const FRAME = /^\s+at /

/** What forms that know tests alone have beside the checks. No area of checks has this name. */
export const STAYS_UP = { area: 'agent', name: 'agent: stays up' }

interface ToldDeaths {
  /** Whether they are why a pipeline is red. */
  readonly isBroken: boolean
  readonly seen: string
  /** With its last words, a line for each. */
  readonly details: string
}

/** null: it has stayed up. */
export function deathsTold(report: Report, history: History): ToldDeaths | null {
  const { deaths } = report
  if (deaths.length === 0) return null
  const sentences = deaths.map(death => deathInWords(death, history))
  const paragraphs = deaths.map((death, at) => [`Seen: ${sentences[at]}`, ...lastWordsOf(death)].join('\n'))
  return { isBroken: deathDecides(report), seen: sentences.join('; '), details: paragraphs.join('\n') }
}

/** In one sentence without a full stop. */
export function deathInWords({ how, afterMs, evidence, untested }: ReportedDeath, { events }: History): string {
  const sent = events.flatMap(one => (one.kind === 'webhook' && evidence.includes(one.seq) ? [one] : []))
  const names = sent.map(one => `${webhookInWords(one)}${one.label && ` of ${one.label}`}`)
  const [first, ...others] = names
  const when = [
    `${(afterMs / 1_000).toFixed(1)} s into the run`,
    others.length > 0 ? `with ${names.length} webhooks under way (${names.join('; ')})` : first && `after ${first}`,
  ]
  const count = `${untested.length} ${untested.length === 1 ? 'check is' : 'checks are'} untested`
  return `the agent ended ${how}, ${when.filter(Boolean).join(', ')}${untested.length > 0 ? `: ${count}` : ''}`
}

/** What it has written last, without what says nothing. */
export function lastWordsOf({ lastWords }: ReportedDeath): string[] {
  const firstFrame = lastWords.findIndex(line => FRAME.test(line))
  return lastWords
    .filter((line, at) => line.trim() !== '' && (at === firstFrame || !FRAME.test(line)))
    .slice(-MOST_WORDS)
}
