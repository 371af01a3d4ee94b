/** `marketplace test-connection`: runs the five checks of an agent, and says what helps if one fails. */

import { COMMAND_LINE } from '../../api/command-line.ts'
import type { AgentRecord, TestReport } from '../../api/records.ts'
import { createClient } from '../../client/typed-client.ts'
import { version } from '../../settings/config.ts'
import { type ConnectionFlags, connected } from '../connection/connection.ts'
import { afterPass, diagnosisLines, reachTo } from '../connection/diagnosis.ts'
import { flagsToReach, nextSteps } from '../connection/next-steps.ts'
import { locate, type Target } from '../connection/target.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { exitCodes } from '../exit-codes.ts'
import { showProgress } from '../output/progress.ts'
import { plain, type Ui } from '../output/ui.ts'
export interface TestFlags extends ConnectionFlags {
  strict?: boolean
}

type Check = TestReport['checks'][number]

/** Exits with 0 if the test passed, with 3 if a check failed. A warning passes unless --strict is given. */
export const testConnection = (agent: string, flags: TestFlags) =>
  connected(flags, 'builder', async connection => {
    const { client, out, notes, answer, found } = connection
    const reach = flagsToReach(found, 'builder')
    const record = await agentCalled(connection, agent)
    const progress = await showProgress(connection)
    const wait = () => progress.wait('Sending a test webhook, then waiting up to 15 s for the signed callback')
    wait()
    let shown = 0
    // The last checks of an earlier test may arrive first, such as of the one that dev began by itself.
    const show = (check: Check) => {
      if (check.check !== shown + 1) return
      shown++
      progress.clear()
      out.line(lineOf(out, check))
      if (check.check < 5) wait()
    }
    const end = connection.json ? () => {} : await watchChecks(found, record.id, show)
    const report = await client.testConnection({ id: record.id }).finally(() => {
      end()
      progress.clear()
    })
    answer(report, () => {
      for (const check of report.checks) show(check)
      for (const line of report.diagnosis ? diagnosisLines(report.diagnosis, reachTo(found)) : [])
        notes.line(`  ${line}`)
      notes.line(closing(report, record, reach))
    })
    return isGood(report, flags.strict === true) ? exitCodes.ok : exitCodes.check
  })

const isGood = ({ status }: TestReport, strict: boolean) => status === 'passed' || (status === 'warning' && !strict)

function lineOf({ colour }: Ui, { check, name, status, message, durationMs }: Check): string {
  const mark = {
    passed: colour.green('✔'),
    failed: colour.red('✖'),
    warning: colour.yellow('!'),
    skipped: colour.dim('-'),
  }
  const time = status === 'skipped' ? '' : colour.dim(`  ${durationMs} ms`)
  return `${mark[status]} ${check} ${name.padEnd(14)} ${plain(message)}${time}`
}

function closing({ status }: TestReport, agent: AgentRecord, flags: string): string {
  if (status === 'failed') return `The test failed. Again: ${nextSteps.testConnection(agent.slug, flags)}`
  if (status === 'passed') return `The test passed.${afterPass(agent, flags)}`
  // Whoever publishes has mended this.
  const next = agent.status === 'draft' ? '' : afterPass(agent, flags)
  return `The test passed with a warning: buyers would see no answer from this agent.${next}`
}

/** Calls `show` for each check of the agent from now on. Resolves to a function that ends it. Without the dev of this folder it does nothing. */
async function watchChecks({ isDev, url }: Target, agentId: string, show: (check: Check) => void) {
  const stop = new AbortController()
  const { signal } = stop
  if (isDev) {
    const { key } = locate({ url, as: 'admin' }, 'admin')
    // The report has every check all the same.
    const entries = await createClient({ baseUrl: url, apiKey: key, userAgent: COMMAND_LINE + version })
      .watchEvents({}, { signal })
      .catch(() => null)
    if (entries) forward(entries, agentId, show).catch(() => {})
  }
  return () => stop.abort()
}

async function forward(entries: AsyncIterable<object>, agentId: string, show: (check: Check) => void) {
  for await (const entry of entries) {
    const found = entry as Partial<Check> & { type?: string; agentId?: string }
    if (found.type === 'check' && found.agentId === agentId) show(found as Check)
  }
}
