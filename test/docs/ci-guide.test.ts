// engines: embedded; process: own; lengths: long
/**
 * docs/guides/ci.md and examples/ci: every block and every step is run as it is printed, in the folder of somebody who has installed the
 * package from the tarball that would be published. After the install nothing reaches any address but those of this machine.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { cleanProject } from './clean-project.ts'
import { blocksOf } from './guide.ts'

const test = suite('ci guide')
const blocks = blocksOf('docs/guides/ci.md')
const { folder, install, bash, remove } = cleanProject()

test.before(() => {
  install()
  for (const { language, name, code } of blocks) if (language === 'js') writeFileSync(join(folder, name), code)
})
test.after(remove)

/** As printed, but for the install, which is over. */
function played(code: string, more: NodeJS.ProcessEnv = {}): string {
  const { status, said, called } = bash(code.replace(/^npm (?:i|ci).*\n?/gm, ''), more)
  assert.is(status, 0, said)
  assert.is(called, '')
  return said
}

/** One run of all checks by npx is enough, which takes half a second of CPU; what else is shown about a run is seen with a few, which are no set. */
const narrowed = (code: string) =>
  direct(code)
    .replaceAll('marketplace conformance', 'marketplace conformance --only sig.valid conn')
    .replaceAll(/ --requirements (?:"\$REQUIREMENTS"|[\d-]+)/g, '')

const direct = (code: string) => code.replaceAll(/npx (?:--no-install |--yes )?(?:agent-)?marketplace/g, 'marketplace')

const blockOf = (name: string) => blocks.find(block => block.name === name)!.code

test('nobody is reached behind the fence, and who tries is seen', () => {
  const { status, called } = bash(`node -e "fetch('http://192.0.2.1').catch(() => process.exit(7))"`)
  assert.is(status, 7)
  assert.match(called, /called 192\.0\.2\.1\n/)
})

test('what the guide shows works as it is printed', () => {
  assert.match(played(direct(blockOf('first'))), /✔ sig \d+/)
  writeFileSync(join(folder, 'conformance.yaml'), blockOf('conformance.yaml'))
  played(direct(blockOf('second')))
  played(direct(blockOf('history')).replaceAll('--only sig', '--only sig.valid'))
  assert.ok(existsSync(join(folder, 'out', 'again.html')))
  played(narrowed(blockOf('baseline')))
})

test('the pipeline of the guide, the action and the job for GitLab judge the agent, and leave their reports', () => {
  const summary = join(folder, 'summary.md')
  played(blockOf('pipeline'), { GITHUB_STEP_SUMMARY: summary })
  assert.match(readFileSync(join(folder, 'out', 'junit.xml'), 'utf8'), 'failures="0"')
  assert.match(readFileSync(summary, 'utf8'), /^## Conformance: PASSED$/m)
  const [step] = parse(readFileSync('examples/ci/action.yml', 'utf8')).runs.steps
  const inputs = { START: 'node agent.mjs', REQUIREMENTS: '2026-12', TIMEOUT: '10m' }
  played(narrowed(step.run), { ...inputs, GITHUB_STEP_SUMMARY: summary })
  mkdirSync(join(folder, 'gitlab'))
  const { script, artifacts } = parse(readFileSync('examples/ci/gitlab.yml', 'utf8')).conformance
  played(narrowed(script.join('\n')))
  assert.ok(existsSync(join(folder, artifacts.reports.junit)))
})

test.run()
