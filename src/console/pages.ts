/**
 * All pages of the console. To add one: write `pages/NAME.tsx`, whose default export is a component of `PageProps` that draws a `Head` first,
 * and name it here. It becomes a chunk of its own, and has its address, its link at the side if it has a `group`, its line in the palette and its
 * key behind `g`. It reads with `useData` and `api`, offers what can be done with `useActions`, and has its style in a file that `console.css` names.
 */
import type { Page } from './page.ts'
import { match, type Place } from './router.ts'

export const pages: readonly Page[] = [
  { path: '/', title: 'Overview', group: 'Now', icon: 'home', key: 'o', load: () => import('./pages/overview.tsx') },
  { path: '/tasks', title: 'Tasks', group: 'Now', icon: 'list', key: 't', load: () => import('./pages/tasks.tsx') },
  { path: '/tasks/:id', title: 'Task', load: () => import('./pages/task.tsx') },
  {
    path: '/deliveries',
    title: 'Deliveries',
    group: 'Now',
    icon: 'arrow',
    key: 'd',
    role: 'builder',
    load: () => import('./pages/deliveries.tsx'),
  },
  { path: '/deliveries/:id', title: 'Delivery', role: 'builder', load: () => import('./pages/deliveries.tsx') },
  {
    path: '/agents',
    title: 'Agents',
    group: 'Now',
    icon: 'agent',
    key: 'a',
    role: 'builder',
    load: () => import('./pages/agents.tsx'),
  },
  { path: '/agents/new', title: 'List an agent', role: 'builder', load: () => import('./pages/agent-edit.tsx') },
  { path: '/agents/:slug', title: 'Agent', role: 'builder', load: () => import('./pages/agents.tsx') },
  { path: '/agents/:slug/edit', title: 'Edit', role: 'builder', load: () => import('./pages/agent-edit.tsx') },
  { path: '/hire', title: 'Hire', group: 'Try', icon: 'person', key: 'h', load: () => import('./pages/hire.tsx') },
  { path: '/hire/:slug', title: 'Hire', load: () => import('./pages/hire-one.tsx') },
  {
    path: '/clock',
    title: 'Clock and weather',
    group: 'Try',
    icon: 'bolt',
    key: 'c',
    only: 'dev',
    role: 'admin',
    load: () => import('./pages/clock.tsx'),
  },
  {
    path: '/wallet',
    title: 'Wallet',
    group: 'Money and mail',
    icon: 'wallet',
    key: 'w',
    load: () => import('./pages/wallet.tsx'),
  },
  {
    path: '/budgets',
    title: 'Budgets',
    group: 'Money and mail',
    icon: 'coin',
    load: () => import('./pages/budgets.tsx'),
  },
  {
    path: '/inbox',
    title: 'Inbox',
    group: 'Money and mail',
    icon: 'inbox',
    key: 'i',
    load: () => import('./pages/inbox.tsx'),
  },
  {
    path: '/queues',
    title: 'Queues',
    group: 'Administration',
    icon: 'shield',
    key: 'q',
    role: 'admin',
    load: () => import('./pages/queues.tsx'),
  },
  { path: '/disputes/:id', title: 'Dispute', role: 'admin', load: () => import('./pages/dispute.tsx') },
  {
    path: '/users',
    title: 'Users',
    group: 'Administration',
    icon: 'person',
    key: 'u',
    role: 'admin',
    load: () => import('./pages/users.tsx'),
  },
  {
    path: '/settings',
    title: 'Settings',
    group: 'Account',
    icon: 'settings',
    key: 's',
    load: () => import('./pages/settings.tsx'),
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
