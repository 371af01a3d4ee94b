/** A second run for files that failed beside others. CI asks for it; on a laptop a failure is one. Source: A-268. */
import type { Job } from './jobs.ts'
import type { Verdict } from './worker.ts'

export interface Outcome extends Pick<Job, 'file' | 'engine'>, Verdict {
  ms: number
  /** The process of these files, with commas between, ended badly after all of them; no test of theirs is counted here. */
  afterAll?: true
}

/** More than that is no accident. */
const MOST = 3

/**
 * Returns the outcomes with those of a second run in place of failures that it does not show. `runAlone` runs one file with
 * nothing beside it. A file that passes only alone is named by `tell`: its test is at fault, or the program has a race.
 */
export async function withSecondRuns(
  outcomes: readonly Outcome[],
  runAlone: (file: string, engine: Job['engine']) => Promise<Outcome[]>,
  tell: (line: string) => void,
): Promise<Outcome[]> {
  const failures = outcomes.filter(({ failed }) => failed > 0)
  if (failures.length === 0 || failures.length > MOST) return [...outcomes]
  tell(`\nWhat failed runs once more, alone:`)
  const judged = outcomes.filter(({ failed }) => failed === 0)
  for (const first of failures) {
    const again: Outcome[] = []
    for (const file of first.file.split(', ')) again.push(...(await runAlone(file, first.engine)))
    const hasPassed = again.every(({ passed, failed }) => passed > 0 && failed === 0)
    if (hasPassed) tell(`UNSTEADY ${first.file} (${first.engine}): it failed beside others and passed alone`)
    if (!hasPassed) judged.push(first)
    else if (!first.afterAll) judged.push(...again)
  }
  return judged
}
