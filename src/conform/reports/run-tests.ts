/**
 * What has happened to the run as a whole. Forms that know tests alone have a test of its own for each, as nothing else might be red: what could
 * not be tried any more is skipped or says nothing.
 */

import type { History } from '../history/history.ts'
import { ENDED } from '../judging/deaths.ts'
import { deathDecides, type Report, type ReportedDeath } from '../judging/report.ts'
import { cutOffInWords, slownessInWords, typed } from '../judging/time-limit.ts'
import { webhookInWords } from './findings.ts'
export interface RunTest {
  /** No area of checks has this name. */
  readonly area: string
  readonly name: string
  readonly id: string
  /** Where it is broken. */
  readonly headline: string
  /** Whether it is why a pipeline is red. */
  readonly isBroken: boolean
  readonly seen: string
  /** With the last words of the agent, a line for each. */
  readonly details: string
}

export function runTests(report: Report, history: History): RunTest[] {
  return [deathsTold(report, history), timeOverTold(report, history)].filter(test => test !== null)
}

function deathsTold(report: Report, history: History): RunTest | null {
  const { deaths } = report
  if (deaths.length === 0) return null
  const sentences = deaths.map(death => deathInWords(death, history))
  const paragraphs = deaths.map((death, at) => [`Seen: ${sentences[at]}`, ...lastWordsOf(death)].join('\n'))
  return {
    ...{ area: 'agent', name: 'agent: stays up', id: ENDED, headline: 'The agent has not stayed up' },
    ...{ isBroken: deathDecides(report), seen: sentences.join('; '), details: paragraphs.join('\n') },
  }
}

function timeOverTold(report: Report, history: History): RunTest | null {
  const seen = timeOverIn(report, history)
  if (seen === null) return null
  return {
    ...{ area: 'run', name: 'run: ends in time', id: 'run.time-over', headline: 'The time of the run was over' },
    ...{ isBroken: true, seen, details: `Seen: ${seen}` },
  }
}

/** Says that the time limit was reached before the run was done, in words: whole sentences without the last full stop; null: it was not. */
export function timeOverIn({ limitMs, checks }: Report, history: History): string | null {
  if (limitMs === null) return null
  const reason = cutOffInWords({ limitMs })
  const count = checks.filter(({ verdict, text }) => verdict === 'inconclusive' && text === reason).length
  const open = `${count} ${count === 1 ? 'check is' : 'checks are'} inconclusive`
  return [
    `The run was ended after ${typed(limitMs)}, as its time was over: ${open}`,
    ...slownessInWords(history),
    `--timeout ${typed(2 * limitMs)} gives it more time`,
  ].join('. ')
}

const MOST_WORDS = 8
/** Of a stack the first line of code is enough. */
const FRAME = /^\s+at /

/** Says that the agent has ended during the run, in one sentence without a full stop. */
export function deathInWords({ how, afterMs, evidence, behind }: ReportedDeath, { events }: History): string {
  const sent = events.flatMap(one => (one.kind === 'webhook' && evidence.includes(one.seq) ? [one] : []))
  const names = sent.map(one => `${webhookInWords(one)}${one.label && ` of ${one.label}`}`)
  const [first, ...others] = names
  const when = [
    `${(afterMs / 1_000).toFixed(1)} s into the run`,
    others.length > 0 ? `with ${names.length} webhooks under way (${names.join('; ')})` : first && `after ${first}`,
  ]
  const count = `${behind.length} ${behind.length === 1 ? 'check is' : 'checks are'} behind it`
  return `the agent ended ${how}, ${when.filter(Boolean).join(', ')}${behind.length > 0 ? `: ${count}` : ''}`
}

/** What it has written last, without what says nothing. */
export function lastWordsOf({ lastWords }: ReportedDeath): string[] {
  const firstFrame = lastWords.findIndex(line => FRAME.test(line))
  return lastWords
    .filter((line, at) => line.trim() !== '' && (at === firstFrame || !FRAME.test(line)))
    .slice(-MOST_WORDS)
}
