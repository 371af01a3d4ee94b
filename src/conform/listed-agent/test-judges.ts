/** Checks on the reports of connection tests. */
import type { TestReport } from '../../api/records.ts'
import type { History, Recordeds } from '../history/history.ts'
import { broken, type Finding, holds, inconclusive, untested } from '../judging/check.ts'
import { labels, type OutsideJudge, scenes } from './scenes.ts'

interface Told {
  readonly event: Recordeds<'observation'>
  readonly checks: TestReport['checks']
}

export interface BesideWork {
  readonly taskId: string
  readonly report: TestReport
}

const toldOf = (event: Recordeds<'observation'>, value: unknown = event.value): Told => ({
  event,
  checks: (value as TestReport).checks,
})

function reportOf(history: History, label: string): Told {
  const [event] = history.observations(label)
  if (!event) throw new Error(`no test was made for ${label}`)
  return toldOf(event)
}

const named = ({ checks }: Told, name: TestReport['checks'][number]['name']) => checks.find(one => one.name === name)!

/** The webhook was answered as it should be. A check that comes before may have failed already. */
function isAnswered(told: Told): Finding {
  if (named(told, 'endpoint').status === 'passed') return holds
  const failed = told.checks.find(({ status }) => status === 'failed')
  return failed
    ? broken(`failed the test: “${failed.message}”`, told.event)
    : inconclusive(`the test said: ${named(told, 'endpoint').message}`)
}

const wasHeard = (told: Told) => ['passed', 'failed'].includes(named(told, 'callback').status)

const first = (history: History) => reportOf(history, labels.test)

function signedRightly(history: History): Finding {
  const told = first(history)
  const { status, message } = named(told, 'callback')
  if (status === 'passed') return holds
  return status === 'failed'
    ? broken(`signed the callback of a test wrongly: “${message}”`, told.event)
    : untested('the agent did not call back')
}

function eachCounts(history: History): Finding {
  const [one, other] = [first(history), reportOf(history, labels.testAgain)]
  const answered = isAnswered(other)
  if (answered.holds !== true) return answered
  if (!wasHeard(one)) return untested('the agent does not call back about tests')
  return wasHeard(other) ? holds : broken('called back about one test, and not about the next', other.event)
}

function besideWork(history: History): Finding {
  const [event] = history.observations(labels.testBeside)
  if (!event) return untested('the agent had not begun, or had delivered, before a test could begin')
  const { taskId, report } = event.value as BesideWork
  const startedAt = Date.parse(report.testedAt) - report.checks.reduce((ms, check) => ms + check.durationMs, 0)
  const [delivered] = history.stepsOf(taskId).filter(({ trigger }) => trigger === 'deliver')
  if (delivered && delivered.realAt < startedAt) return untested('the agent had delivered when the test began')
  const answered = isAnswered(toldOf(event, report))
  if (answered.holds !== true) return answered
  if (delivered) return holds
  // That it delivers nothing at all is said elsewhere.
  const delivers = history.of('step').some(({ trigger }) => trigger === 'deliver')
  return delivers
    ? broken('did not deliver the task during which it was tested, and others it did', event)
    : untested('the agent delivered nothing')
}

export const judgesOfTests: Readonly<Record<string, OutsideJudge>> = {
  'conn.endpoint-200': { scenario: scenes.test, judge: history => isAnswered(first(history)) },
  'conn.callback-arrives': {
    scenario: scenes.test,
    after: ['conn.endpoint-200'],
    judge: history => (wasHeard(first(history)) ? holds : broken('did not call back', first(history).event)),
  },
  'conn.callback-signature': { scenario: scenes.test, after: ['conn.endpoint-200'], judge: signedRightly },
  'conn.price-zero': {
    scenario: scenes.test,
    after: ['conn.endpoint-200'],
    // The price of a test is 0, and it has passed.
    judge: () => holds,
  },
  'conn.test-twice': { scenario: scenes.test, after: ['conn.endpoint-200'], judge: eachCounts },
  'conn.test-beside-work': { scenario: scenes.life, after: ['conn.endpoint-200'], judge: besideWork },
  'rel.alive': {
    scenario: scenes.lastTest,
    plays: [scenes.life],
    after: ['conn.endpoint-200'],
    judge: history => isAnswered(reportOf(history, labels.testAtEnd)),
  },
}
