// The bugs and styles that the agent is started with: `--bug no-dedupe --style queue`. A right agent has no such file.
import { readdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    bug: { type: 'string', multiple: true, default: [] },
    style: { type: 'string', multiple: true, default: [] },
  },
})

const here = import.meta.dirname
const source = readdirSync(here)
  .map(file => readFileSync(`${here}/${file}`, 'utf8'))
  .join('\n')

/** A switch that no line reads would be a mutant without a bug. */
function checked(kind) {
  const known = new Set([...source.matchAll(RegExp(`\\b${kind}\\('([^']+)'\\)`, 'g'))].map(([, name]) => name))
  const unknown = values[kind].filter(name => !known.has(name))
  if (unknown.length > 0) throw new Error(`No line has the ${kind} ${unknown.join(', ')}`)
  return new Set(values[kind])
}

const bugs = checked('bug')
const styles = checked('style')

/** Whether this bug is on. */
export const bug = name => bugs.has(name)

/** Whether it is right in this other way. */
export const style = name => styles.has(name)
