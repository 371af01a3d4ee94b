// engines: embedded; process: shared
/** The proofs of right agents: what is a fault there, and that a stack which this machine lacks is one too. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { broken, type Finding, holds, leftOut, untested } from '../../src/conform/judging/check.ts'
import { reportOf } from '../../src/conform/judging/report.ts'
import { begin, historyOf, played } from './made-up.ts'
import { faultsIn, type Ran } from './stacks/ran.ts'

/** With a must of which this was found. */
function ranWith(finding: Finding, figures: Partial<Ran> = {}, level: 'must' | 'should' = 'must'): Ran {
  const law = { source: 'I-json', quote: 'JSON' }
  const check = { id: 'a.b', level, title: 'is right', law, why: 'Why.', fix: 'Fix.', scenario: 'play' }
  const report = reportOf([{ ...check, judge: () => finding }], historyOf([begin, played('play')]), { known: ['a.b'] })
  return { seed: 1, report, code: 0, seconds: 15, megabytes: 150, silent: 5, isBeside: false, ...figures }
}

test('what a right agent loses or leaves untested is a fault, and so is what the command takes too much of', () => {
  const faultsOf = (...of: Parameters<typeof ranWith>) => faultsIn(ranWith(...of), { warns: [] })
  assert.equal(faultsOf(holds), [])
  assert.equal(faultsOf(broken('was wrong')), ['a.b is fail: was wrong'])
  assert.equal(faultsOf(untested('no sample')), ['a.b is untested: no sample'])
  assert.equal(faultsOf(untested('no sample'), {}, 'should'), [])
  assert.equal(faultsOf(leftOut('as declared')), [])
  assert.equal(faultsOf(broken('was wrong'), {}, 'should'), ['a.b is warn: was wrong'])
  assert.equal(faultsIn(ranWith(broken('was wrong'), {}, 'should'), { warns: ['a.b'] }), [])
  assert.equal(faultsOf(holds, { code: 3 }), ['the exit code is 3'])
  assert.equal(faultsOf(holds, { megabytes: 151 }), ['the command took 151 MB'])
  assert.equal(faultsOf(holds, { silent: 5.1 }), ['the command was silent for 5.1 s'])
  assert.equal(faultsOf(holds, { silent: 5.1, isBeside: true }), [])
})

test('a stack that is not here is a fault, with what to install', () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-go-'))
  try {
    symlinkSync(execFileSync('sh', ['-c', 'command -v sh'], { encoding: 'utf8' }).trim(), join(folder, 'sh'))
    for (const [proof, name] of [
      ['mutants', 'right: Go'],
      ['stacks', 'Go'],
    ]) {
      const args = ['--import', 'tsx', `test/conform/${proof}/run.ts`, name!]
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH: folder } })
      assert.is(status, 1, stdout)
      assert.match(
        stdout,
        `FAIL ${name}: there is no go here, so it was not tried. Install it: Debian has it in golang-go`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.run()
