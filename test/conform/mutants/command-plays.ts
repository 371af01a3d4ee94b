/** The command itself, from its source: its exit code, its JUnit report and its baseline tell what the judge has found. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Play } from './play.ts'
import { byHand } from './right-agents.ts'
import type { Trials } from './trials.ts'

const BUG = 'verifies-only-if-signed'
const CHECK = 'sig.missing-signature'

interface Said {
  readonly code: number
  readonly out: string
  readonly junit: string
}

/** Judges the agent by the one check. `baseline`: the file's text. */
async function judgedByCommand(root: string, agent: string, baseline: string | null): Promise<Said> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  const junit = join(folder, 'junit.xml')
  const excuses = join(folder, 'baseline.yaml')
  if (baseline !== null) writeFileSync(excuses, baseline)
  const flags = ['--only', CHECK, '--report', `junit=${junit}`, ...(baseline === null ? [] : ['--baseline', excuses])]
  try {
    const { code, out } = await command(root, ['conformance', '--start', `exec ${agent}`, ...flags], folder)
    return { code, out, junit: readFileSync(junit, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const command = (root: string, words: readonly string[], cwd: string) =>
  new Promise<{ code: number; out: string }>(resolve => {
    const [tsx, source] = [import.meta.resolve('tsx'), join(root, 'bin/from-source.ts')]
    execFile(process.execPath, ['--import', tsx, source, ...words], { cwd }, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out: out + err })
    })
  })

const commandPlay = (name: string, agent: string, baseline: string | null, faultIn: (said: Said) => string | null) => ({
  name: `command: ${name}`,
  async faults({ root }: Trials) {
    const said = await judgedByCommand(root, agent, baseline)
    const fault = faultIn(said)
    return fault === null ? [] : [`${fault}: ${said.out}`]
  },
})

const excuse = `${CHECK}: { verdict: fail, why: it is known }\n`

export const commandPlays: readonly Play[] = [
  commandPlay('a right agent gives 0', byHand(), null, ({ code, junit }) =>
    code === 0 && !junit.includes('<failure') ? null : `its exit code is ${code}, or JUnit has a failure`,
  ),
  commandPlay('a bug gives 3, and JUnit has it', byHand('--bug', BUG), null, ({ code, junit }) =>
    code === 3 && junit.includes('<failure') ? null : `its exit code is ${code}, or JUnit has no failure`,
  ),
  commandPlay('a bug that the baseline excuses gives 0', byHand('--bug', BUG), excuse, ({ code }) =>
    code === 0 ? null : `its exit code is ${code}`,
  ),
  commandPlay('an excuse that is not needed gives 3', byHand(), excuse, ({ code }) =>
    code === 3 ? null : `its exit code is ${code}`,
  ),
]
