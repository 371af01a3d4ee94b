/** What a value that the module makes when it is loaded is used by: a table, a limit or a text of SQL is reached there. */
import type { Span } from './mutant.ts'
import type { Source } from './sample.ts'

export interface User {
  readonly file: string
  readonly body: Span
}

/** Functions that name it, or name another such value made of it. Empty if none is seen. */
export function usersOf({ at, file }: { at: number; file: string }, sources: readonly Source[]): User[] {
  const source = sources.find(one => one.file === file)
  const declared = source?.scene.declared.find(({ start, end }) => start <= at && at < end)
  const users = new Map<string, User>()
  const seen = new Set<string>()
  const follow = (home: Source, name: string) => {
    if (seen.has(`${home.file} ${name}`)) return
    seen.add(`${home.file} ${name}`)
    for (const other of sources) {
      if (other !== home && !imports(other, home, name)) continue
      const word = new RegExp(`(?<![\\w.$])${name}(?![\\w$])`)
      const names = ({ start, end }: Span) => word.test(other.text.slice(start, end))
      for (const body of other.scene.bodies.filter(names))
        users.set(`${other.file} ${body.start}`, { file: other.file, body })
      for (const one of other.scene.declared.filter(names)) follow(other, one.name)
    }
  }
  if (source && declared) follow(source, declared.name)
  return [...users.values()]
}

function imports(other: Source, home: Source, name: string): boolean {
  const base = home.file.slice(home.file.lastIndexOf('/') + 1)
  const lists = other.text.matchAll(/import (?:type )?(\{[^}]*\}|[^{}'"]*?) from '([^']+)'/g)
  return [...lists].some(([, list, from]) => from!.endsWith(`/${base}`) && new RegExp(`\\b${name}\\b`).test(list!))
}
