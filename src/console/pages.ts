/**
 * All pages of the console. To add one: write `pages/NAME.tsx`, whose default export is a component of `PageProps` that draws a `Head` first, name
 * it in the file of those who go there (`pages/of-….ts`), and here. It has its address, its link at the side if it has a `group`, its line in the
 * palette and its key behind `g`. It reads with `useData` and `api`, follows with `useChanges`, offers what can be done with `useActions`, and has
 * its style in a file that `console.css` names.
 */
import type { Page } from './page.ts'
import { match, type Place } from './router.ts'

/** Pages that one person goes between come together: many small chunks weigh more than they spare. */
const people = () => import('./pages/of-people.ts')
const builder = () => import('./pages/of-builders.ts')
const admin = () => import('./pages/of-administrators.ts')
const now = () => import('./pages/of-now.ts')

export const pages: readonly Page[] = [
  { path: '/', title: 'Overview', group: 'Now', icon: 'home', key: 'o', load: async () => (await now()).Overview },
  { path: '/tasks', title: 'Tasks', group: 'Now', icon: 'list', key: 't', load: async () => (await people()).Tasks },
  {
    path: '/deliveries',
    title: 'Deliveries',
    group: 'Now',
    icon: 'arrow',
    key: 'd',
    role: 'builder',
    load: async () => (await builder()).Deliveries,
  },
  { path: '/deliveries/:id', title: 'Delivery', role: 'builder', load: async () => (await builder()).Deliveries },
  {
    path: '/agents',
    title: 'Agents',
    group: 'Now',
    icon: 'agent',
    key: 'a',
    role: 'builder',
    load: async () => (await builder()).Agents,
  },
  { path: '/agents/new', title: 'List an agent', role: 'builder', load: async () => (await builder()).AgentEdit },
  { path: '/agents/:slug', title: 'Agent', role: 'builder', load: async () => (await builder()).Agents },
  { path: '/agents/:slug/edit', title: 'Edit', role: 'builder', load: async () => (await builder()).AgentEdit },
  { path: '/hire', title: 'Hire', group: 'Try', icon: 'person', key: 'h', load: async () => (await people()).Hire },
  { path: '/hire/:slug', title: 'Hire', load: async () => (await people()).HireOne },
  {
    path: '/clock',
    title: 'Clock and weather',
    group: 'Try',
    icon: 'bolt',
    key: 'c',
    only: 'dev',
    role: 'admin',
    load: async () => (await now()).Clock,
  },
  {
    path: '/wallet',
    title: 'Wallet',
    group: 'Money and mail',
    icon: 'wallet',
    key: 'w',
    load: async () => (await people()).Wallet,
  },
  {
    path: '/budgets',
    title: 'Budgets',
    group: 'Money and mail',
    icon: 'coin',
    load: async () => (await people()).Budgets,
  },
  {
    path: '/inbox',
    title: 'Inbox',
    group: 'Money and mail',
    icon: 'inbox',
    key: 'i',
    load: async () => (await people()).Inbox,
  },
  {
    path: '/queues',
    title: 'Queues',
    group: 'Administration',
    icon: 'shield',
    key: 'q',
    role: 'admin',
    load: async () => (await admin()).Queues,
  },
  { path: '/disputes/:id', title: 'Dispute', role: 'admin', load: async () => (await admin()).Dispute },
  {
    path: '/users',
    title: 'Users',
    group: 'Administration',
    icon: 'person',
    key: 'u',
    role: 'admin',
    load: async () => (await admin()).Users,
  },
  {
    path: '/settings',
    title: 'Settings',
    group: 'Account',
    icon: 'settings',
    key: 's',
    load: async () => (await people()).Settings,
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
