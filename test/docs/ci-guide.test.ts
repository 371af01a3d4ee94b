// engines: embedded; process: own
/** docs/guides/ci.md and examples/ci: every block and every step is run as it is printed, in a folder like that of somebody who has installed the package. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { inFolder } from '../cli/program.ts'
import { blocksOf, installed } from './guide.ts'

const blocks = blocksOf('docs/guides/ci.md')

/** A folder with the agent of the guide. Returns a shell in it. */
function shellIn(folder: string) {
  const env = installed(folder)
  for (const { language, name, code } of blocks) if (language === 'js') writeFileSync(join(folder, name), code)
  return (code: string, more: NodeJS.ProcessEnv = {}) => {
    const script = code.replace(/^npm (?:i|ci).*\n?/gm, '').replaceAll('npx --no-install', 'npx')
    const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
      ...{ cwd: folder, env: { ...env, ...more }, encoding: 'utf8' },
    })
    return { status, said: stdout + stderr }
  }
}

/** One run of all checks is enough; what else is shown about a run is seen with a few. */
const narrowed = (code: string) =>
  code.replaceAll('marketplace conformance', 'marketplace conformance --only sig.valid conn')

const blockOf = (name: string) => blocks.find(block => block.name === name)!.code

test(
  'what the guide shows works as it is printed',
  inFolder(async folder => {
    const bash = shellIn(folder)
    const first = bash(blockOf('first'))
    assert.is(first.status, 0, first.said)
    assert.match(first.said, /✔ sig \d+/)
    writeFileSync(join(folder, 'conformance.yaml'), blockOf('conformance.yaml'))
    const second = bash(blockOf('second'))
    assert.is(second.status, 0, second.said)
    const history = bash(blockOf('history').replaceAll('--only sig', '--only sig.valid'))
    assert.is(history.status, 0, history.said)
    assert.ok(existsSync(join(folder, 'out', 'again.html')))
    const baseline = bash(narrowed(blockOf('baseline')))
    assert.is(baseline.status, 0, baseline.said)
  }),
)

test(
  'the pipeline of the guide, the action and the job for GitLab judge the agent, and leave their reports',
  inFolder(async folder => {
    const bash = shellIn(folder)
    writeFileSync(join(folder, 'conformance.yaml'), blockOf('conformance.yaml'))
    const summary = join(folder, 'summary.md')
    const pipeline = bash(blockOf('pipeline'), { GITHUB_STEP_SUMMARY: summary })
    assert.is(pipeline.status, 0, pipeline.said)
    assert.match(readFileSync(join(folder, 'out', 'junit.xml'), 'utf8'), 'failures="0"')
    assert.match(readFileSync(summary, 'utf8'), /^## Conformance: must (\d+)\/\1 /)
    const [step] = parse(readFileSync('examples/ci/action.yml', 'utf8')).runs.steps
    const action = bash(narrowed(step.run), {
      START: 'node agent.mjs',
      REQUIREMENTS: '2026-11',
      GITHUB_STEP_SUMMARY: summary,
    })
    assert.is(action.status, 0, action.said)
    mkdirSync(join(folder, 'gitlab'))
    const { script, artifacts } = parse(readFileSync('examples/ci/gitlab.yml', 'utf8')).conformance
    const job = bash(narrowed(script.join('\n')))
    assert.is(job.status, 0, job.said)
    assert.ok(existsSync(join(folder, artifacts.reports.junit)))
  }),
)

test.run()
