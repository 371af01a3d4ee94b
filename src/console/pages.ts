/**
 * All pages of the console. To add one: write `pages/NAME.tsx`, whose default export is a component of `PageProps` that draws a `Head` first, name
 * it in `pages/others.ts`, and here. It has its address, its link at the side if it has a `group`, its line in the palette and its key behind
 * `g`. It reads with `useData` and `api`, follows with `useChanges`, offers what can be done with `useActions`, and has its style in a file that
 * `console.css` names. Pages of one `body` keep what they show when the address goes from one to another.
 */
import type { Page } from './page.ts'
import type { Place } from './router.ts'

export type Others = typeof import('./pages/others.ts')

interface KnownPage extends Page {
  /** Its name in `pages/others.ts`. Without one it is the first page, which comes with the shell: fewer and larger files weigh less. */
  readonly body?: Exclude<keyof Others, 'Keys' | 'Palette'>
}

export const pages: readonly KnownPage[] = [
  {
    path: '/',
    title: 'Overview',
    group: 'Now',
    icon: 'home',
    key: 'o',
  },
  { path: '/tasks', title: 'Tasks', group: 'Now', icon: 'list', key: 't', body: 'Tasks' },
  { path: '/tasks/:id', title: 'Task', body: 'Task' },
  {
    path: '/deliveries',
    title: 'Deliveries',
    group: 'Now',
    icon: 'arrow',
    key: 'd',
    role: 'builder',
    body: 'Deliveries',
  },
  { path: '/deliveries/:id', title: 'Delivery', role: 'builder', body: 'Deliveries' },
  {
    path: '/agents',
    title: 'Agents',
    group: 'Now',
    icon: 'agent',
    key: 'a',
    role: 'builder',
    body: 'Agents',
  },
  { path: '/agents/new', title: 'List an agent', role: 'builder', body: 'AgentEdit' },
  { path: '/agents/:slug', title: 'Agent', role: 'builder', body: 'Agents' },
  { path: '/agents/:slug/edit', title: 'Edit', role: 'builder', body: 'AgentEdit' },
  { path: '/hire', title: 'Hire', group: 'Try', icon: 'person', key: 'h', body: 'Hire' },
  { path: '/hire/:slug', title: 'Hire', body: 'HireOne' },
  {
    path: '/conformance',
    title: 'Conformance',
    group: 'Try',
    icon: 'scales',
    key: 'm',
    only: 'dev',
    role: 'builder',
    body: 'Conformance',
  },
  ...['/conformance/:run', '/conformance/:run/:check'].map(path => ({
    ...({ path, title: 'Conformance', only: 'dev', role: 'builder', body: 'Conformance' } as const),
  })),
  {
    path: '/clock',
    title: 'Clock and weather',
    group: 'Try',
    icon: 'bolt',
    key: 'c',
    only: 'dev',
    role: 'admin',
    body: 'Clock',
  },
  {
    path: '/wallet',
    title: 'Wallet',
    group: 'Money and mail',
    icon: 'wallet',
    key: 'w',
    body: 'Wallet',
  },
  {
    path: '/budgets',
    title: 'Budgets',
    group: 'Money and mail',
    icon: 'coin',
    body: 'Budgets',
  },
  {
    path: '/inbox',
    title: 'Inbox',
    group: 'Money and mail',
    icon: 'inbox',
    key: 'i',
    body: 'Inbox',
  },
  {
    path: '/queues',
    title: 'Queues',
    group: 'Administration',
    icon: 'shield',
    key: 'q',
    role: 'admin',
    body: 'Queues',
  },
  { path: '/disputes/:id', title: 'Dispute', role: 'admin', body: 'Dispute' },
  {
    path: '/users',
    title: 'Users',
    group: 'Administration',
    icon: 'person',
    key: 'u',
    role: 'admin',
    body: 'Users',
  },
  {
    path: '/settings',
    title: 'Settings',
    group: 'Account',
    icon: 'settings',
    key: 's',
    body: 'Settings',
  },
]

/** The page of an address, with the parts of it. */
export function pageAt({ path }: Pick<Place, 'path'>) {
  for (const page of pages) {
    const params = match(page.path, path)
    if (params) return { page, params }
  }
  return null
}

/** The parts of a path that a pattern names, such as `/tasks/:id`; null if it is another page. */
function match(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    if (part.startsWith(':')) params[part.slice(1)] = decode(given[at]!)
    else if (part !== given[at]) return null
  }
  return params
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
