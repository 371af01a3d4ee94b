/** The simulated buyers that `dev --persona` asks for. Source: A-256. */
import { UsageError } from '../../config.ts'
import { type Persona, personas } from '../../sim/personas.ts'

export function personasCalled(names: readonly string[] = []): readonly Persona[] {
  return [...new Set(names)].map(name => {
    const persona = personas.find(one => one.name === name)
    if (persona) return persona
    const known = personas.map(one => `  ${one.name.padEnd(12)} ${one.does}`).join('\n')
    throw new UsageError(`--persona takes one of these, not ${name}:\n${known}`)
  })
}
