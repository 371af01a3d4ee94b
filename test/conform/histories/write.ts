/**
 * `npm run histories`: writes the verdicts of the kept histories anew, when a check means something else on purpose. `-- --record` plays
 * them again first, or those that are named behind it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checks } from '../../../src/conform/checks/index.ts'
import { withPrerequisites } from '../../../src/conform/judging/selection.ts'
import { run, scenariosFor } from '../../../src/conform/run.ts'
import { usuallyDeclared } from '../mutants/trial.ts'
import { keep, keepVerdicts, keptHistory, keptRuns, verdictsOf } from './kept.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { record: { type: 'boolean' } } })
const chosen = keptRuns.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
for (const one of chosen) {
  if (values.record) keep(one.name, await play(one))
  keepVerdicts(one.name, verdictsOf(keptHistory(one.name)))
}

async function play({ flags, declared, wanted }: (typeof keptRuns)[number]) {
  const folder = mkdtempSync(join(tmpdir(), 'history-'))
  // The agent inherits it: what is kept names no folder of this machine.
  process.env.MUTANT_STATE = join(folder, 'state')
  const some = wanted ? checks.filter(({ id }) => wanted.includes(id)) : checks
  try {
    return await run({
      ...{ url: null, secret: null, command: `exec node test/conform/agents/mutant.mjs ${flags.join(' ')}`, seed: 1 },
      declared: { ...usuallyDeclared, ...declared },
      scenarios: scenariosFor(withPrerequisites(checks, some)),
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
