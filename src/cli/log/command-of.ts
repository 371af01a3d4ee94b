/** Finds the command that does what an endpoint does. */
import { endpoints } from '../../api/endpoints/index.ts'
import type { CommandTable } from '../command-line/command.ts'
import type { CommandOf } from './entry-lines.ts'

export function commandFinder({ chapters }: Pick<CommandTable, 'chapters'>): CommandOf {
  const names = new Map<string, string>()
  for (const record of chapters.flatMap(([, records]) => records)) {
    for (const name of record.endpoints ?? []) {
      const { method, path } = endpoints[name]
      if (!names.has(`${method} ${path}`)) names.set(`${method} ${path}`, record.name)
    }
  }
  return (method, route) => names.get(`${method} ${route}`)
}
