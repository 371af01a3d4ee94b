/** `conformance.baseline.yaml`: one line for each check that is excused for now. */
import { readFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import * as z from 'zod'
import { type Baseline, excusable } from '../../conform/judging/baseline.ts'
import { UsageError } from '../../settings/config.ts'
import { diskReason } from '../output/disk-faults.ts'
import { writeText } from '../output/ui.ts'

const BASELINE_FILE = 'conformance.baseline.yaml'

const shape = z.record(
  z.string(),
  z.strictObject({
    verdict: z.enum(excusable),
    why: z.string().min(1),
    until: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d$/, 'until is a day, like 2027-01-31')
      .optional(),
  }),
)

/** Reads the file that is named, or the usual one if it is there. `made`: it may be missing all the same. */
export function baselineIn(named: string | undefined, made: boolean): Baseline {
  const path = named ?? BASELINE_FILE
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && (named === undefined || made)) return {}
    throw new UsageError(`${path} can't be read: ${diskReason(error as Error)}.`)
  }
  const given = shape.safeParse(yamlIn(text, path) ?? {})
  if (given.success) return given.data
  const [{ path: at, message }] = given.error.issues as [z.core.$ZodIssue]
  throw new UsageError(`${path}: ${at.join('.')}: ${message}.`)
}

function yamlIn(text: string, path: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    throw new UsageError(`${path} is no YAML: ${(error as Error).message.split('\n')[0]}`)
  }
}

const HEAD = `# Checks that fail for now, and why. A line that is no longer true fails the run.
# Each may have "until: 2027-01-31", the last day on which it counts.
`

/** Returns what there is to say about it. */
export function writeBaseline(named: string | undefined, baseline: Baseline): string {
  const path = named ?? BASELINE_FILE
  const count = Object.keys(baseline).length
  writeText(path, HEAD + (count === 0 ? '' : stringify(baseline)))
  if (count === 0)
    return `${path} is written and excuses nothing, as nothing is broken. This run ends with exit code 0.`
  const checks = count === 1 ? 'one check: say in its line' : `${count} checks: say in each line`
  return `${path} excuses ${checks} why. This run ends with exit code 0, whatever is broken; the next one is held to the file.`
}
