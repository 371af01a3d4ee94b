/**
 * What has befallen the run as a whole. Forms that know tests alone have a test of its own for each, as nothing else might be red: what could
 * not be tried any more is skipped or says nothing.
 */
import type { History } from '../history/history.ts'
import { deathDecides, type Report } from '../judging/report.ts'
import { deathInWords, lastWordsOf } from './deaths.ts'
import { timeOverIn } from './time-over.ts'

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
    ...{ area: 'agent', name: 'agent: stays up', id: 'agent.ended', headline: 'The agent has not stayed up' },
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
