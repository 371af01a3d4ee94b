/** Which lists of a marketplace have what an argument or a flag names. */

import type { EndpointName } from '../../api/endpoints/index.ts'
import { endpoints } from '../../api/endpoints/index.ts'
import type { CommandTable } from './command.ts'

type List = readonly [person: 'buyer' | 'builder' | 'admin', endpoint: EndpointName, field: string, about: string]

const AGENTS: readonly List[] = [
  ['builder', 'listMyAgents', 'slug', 'status'],
  ['buyer', 'listAgents', 'slug', 'tagline'],
]
const TASKS: readonly List[] = [
  ['buyer', 'listTasks', 'id', 'title'],
  ['builder', 'listTasks', 'id', 'title'],
]

/** By the words of a command, and the word of its argument or its flag. The first that fits. */
const lists: readonly (readonly [of: RegExp, lists: readonly List[]])[] = [
  [/^admin agents .*<agent-id>/, [['admin', 'adminListAgents', 'id', 'slug']]],
  [/^admin deposits .*<id>/, [['admin', 'adminListDeposits', 'id', 'status']]],
  [/^admin withdrawals .*<id>/, [['admin', 'adminListWithdrawals', 'id', 'status']]],
  [/^admin users .*<user-id>/, [['admin', 'adminListUsers', 'email', 'name']]],
  [/^admin .*<task-id>/, [['admin', 'adminListTasks', 'id', 'title']]],
  [/^admin categories .*<category>/, [['buyer', 'listCategories', 'slug', 'name']]],
  [/^exchanges (?:show|replay) <id>/, [['admin', 'listExchanges', 'id', 'taskId']]],
  [/^deliveries (?:show|resend) [<[]id/, [['admin', 'listExchanges', 'deliveryId', 'taskId']]],
  [/--task <id>|<task-id>/, TASKS],
  [/--budget <id>|<budget-id>/, [['buyer', 'listBudgets', 'id', 'status']]],
  [/<key-id>/, [['builder', 'listKeys', 'id', 'name']]],
  [/<notification-id>/, [['builder', 'listNotifications', 'id', 'type']]],
  [/--agent <(?:agent|slug or id)>|[<[]agent[>\]]/, AGENTS],
  [/^why \[about\]/, [...AGENTS, ...TASKS]],
]

/** What `ids.ts` is asked, by the words so far, and the flag if there is one: ' tasks show', ' logs --agent'. */
export function idsOf({ chapters }: CommandTable): ReadonlyMap<string, string> {
  const asked = new Map<string, string>()
  for (const { name, takes = [], options } of chapters.flatMap(([, records]) => records)) {
    const put = (at: string, word: string) => {
      const found = lists.find(([of]) => of.test(`${name} ${word}`))?.[1]
      if (found) asked.set(at, found.map(wordOf).join(' '))
    }
    if (takes[0]) put(` ${name}`, takes[0])
    for (const [flags] of options) {
      const [, flag, value] = /(--[a-z-]+) (<[^>]*>)/.exec(flags) ?? []
      if (flag) put(` ${name} ${flag}`, `${flag} ${value}`)
    }
  }
  return asked
}

const wordOf = ([person, endpoint, field, about]: List) => {
  const { path, query } = endpoints[endpoint] as { path: string; query?: { shape?: object } }
  const isPaged = query?.shape !== undefined && 'limit' in query.shape
  return `${person}:${path}${isPaged ? '?limit=50' : ''}:${field}:${about}`
}
