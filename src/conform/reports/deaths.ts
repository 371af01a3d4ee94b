/** That the agent has ended in the midst of the run, in words. */
import type { History } from '../history/history.ts'
import type { ReportedDeath } from '../judging/report.ts'
import { webhookInWords } from './words.ts'

const MOST_WORDS = 8
/** Of a stack the first line of code is enough. */
const FRAME = /^\s+at /

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
