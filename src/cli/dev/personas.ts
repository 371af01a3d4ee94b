/** The simulated buyers that `dev --persona` asks for. Source: A-256. */
import { UsageError } from '../../settings/config.ts'
import type { Persona } from '../../sim/buyers/persona.ts'
import { personas } from '../../sim/buyers/personas.ts'

/** Of these, each has at most one open task with each agent. */
const alone = personas.filter(({ atOnce }) => atOnce === 1)

export function personasCalled(names: readonly string[] = []): readonly Persona[] {
  return [...new Set(names)].map(name => {
    const persona = alone.find(one => one.name === name)
    if (persona) return persona
    const known = alone.map(one => `  ${one.name.padEnd(14)} ${one.does}`).join('\n')
    const isCrowd = personas.some(one => one.name === name)
    const why = isCrowd ? `, which comes with many tasks at once and is for simulate buyers` : ''
    throw new UsageError(`--persona takes one of these, not ${name}${why}:\n${known}`)
  })
}
