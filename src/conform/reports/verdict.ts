/** What came of a run: in one word, and in one sentence for somebody who knows nothing of checks. */
import { type Asked, deathDecides, isBroken, type Outcome, outcomeOf, type Report } from '../judging/report.ts'
import { inOrder } from './findings.ts'

const LENIENT: Asked = { strict: false, complete: false }

const words: Readonly<Record<Outcome, string>> = { good: 'PASSED', bad: 'FAILED', unsure: 'INCONCLUSIVE' }

export interface InWords {
  readonly outcome: Outcome
  readonly word: string
  /** Follows a colon. */
  readonly sentence: string
}

export function verdictOf(report: Report, asked: Asked = LENIENT): InWords {
  const outcome = outcomeOf(report, asked)
  return { outcome, word: words[outcome], sentence: sentences[outcome](report) }
}

const sentences: Readonly<Record<Outcome, (report: Report) => string>> = {
  good: ({ summary: { warn, untested } }) =>
    [
      'the agent did everything that it must',
      untested > 0 && `as far as it was tried (${things(untested)} not)`,
      warn > 0 && `and ${things(warn)} otherwise than it should`,
    ]
      .filter(Boolean)
      .join(', ')
      .concat('.'),
  bad(report) {
    const broken = inOrder(report).filter(isBroken)
    const [first] = broken
    if (first) return `the agent did ${things(broken.length)} wrong that it must do right. Mend ${first.id} first.`
    if (deathDecides(report)) return 'the agent ended by itself, so that not everything could be tried.'
    if (report.baseline.length > 0) return 'what the baseline excuses is not so any more: write it anew.'
    return 'the agent did nothing wrong that it must do right, but more was asked of this run, and not all of it was seen.'
  },
  unsure: ({ interrupted, summary: { total, inconclusive } }) =>
    interrupted
      ? 'the run was ended before everything was tried. Nothing is known of the rest.'
      : inconclusive > 0
        ? `${things(inconclusive)} could not be told apart from a fault of this machine. Run it again.`
        : `none of ${things(total)} could be tried.`,
}

const things = (count: number) => `${count} ${count === 1 ? 'thing' : 'things'}`
