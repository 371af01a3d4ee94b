/** What a value that the module makes when it is loaded is used by: a table, a limit or a text of SQL is reached there. */

import type { Source } from './find.ts'
import type { Span } from './mutant.ts'

export interface User {
  readonly file: string
  readonly body: Span
}

/** Functions that name it, or name another such value made of it. Empty if none is seen. */
export function usersOf({ at, file }: { at: number; file: string }, sources: readonly Source[]): User[] {
  const source = sources.find(one => one.file === file)
  const declared = source?.scene.declared.filter(({ start, end, isField }) => !isField && start <= at && at < end) ?? []
  const users = new Map<string, User>()
  const seen = new Set<string>()
  const follow = (home: Source, name: string) => {
    if (seen.has(`${home.file} ${name}`)) return
    seen.add(`${home.file} ${name}`)
    for (const other of sources) {
      for (const local of other === home ? [name] : namesIn(other, home, name)) {
        const word = new RegExp(`(?<![\\w.$])${local}(?![\\w$])`)
        const names = ({ start, end }: Span) => word.test(other.text.slice(start, end))
        for (const body of other.scene.bodies.filter(names))
          users.set(`${other.file} ${body.start}`, { file: other.file, body })
        for (const one of other.scene.declared.filter(names)) follow(other, one.name)
      }
    }
  }
  if (source) for (const { name } of declared) follow(source, name)
  return [...users.values()]
}

/** What `other` calls it: its own name, the name it is imported as, or that of the module as a whole. */
function namesIn(other: Source, home: Source, name: string): string[] {
  const base = home.file.slice(home.file.lastIndexOf('/') + 1)
  const lists = other.text.matchAll(/import (?:type )?(\{[^}]*\}|\* as \w+|[^{}'"]*?) from '([^']+)'/g)
  return [...lists].flatMap(([, list, from]) => {
    if (!from!.endsWith(`/${base}`)) return []
    const whole = /^\* as (\w+)$/.exec(list!)
    if (whole) return [`${whole[1]}\\.${name}`]
    const named = new RegExp(`(?<![\\w$])${name}(?: as (\\w+))?(?![\\w$])`).exec(list!)
    return named ? [named[1] ?? name] : []
  })
}
