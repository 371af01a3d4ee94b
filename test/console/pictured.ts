/** The picture of each page of the console, by its address: a file of `docs/pictures` that `npm run pictures` makes and the guide shows. */
export const pictured: Readonly<Record<string, string>> = {
  '/': 'overview',
  '/tasks': 'tasks',
  '/tasks/:id': 'task',
  '/deliveries': 'deliveries',
  '/deliveries/:id': 'delivery',
  // It shows the first of them.
  '/agents': 'agent',
  '/agents/new': 'agent-new',
  '/agents/:slug': 'agent',
  '/agents/:slug/edit': 'agent-edit',
  '/hire': 'hire-whom',
  '/hire/:slug': 'hire',
  '/conformance': 'conformance-begin',
  '/conformance/:run': 'conformance',
  '/conformance/:run/:check': 'conformance-check',
  '/clock': 'clock',
  '/wallet': 'wallet',
  '/budgets': 'budgets',
  '/inbox': 'inbox',
  '/queues': 'queues',
  '/disputes/:id': 'dispute',
  '/users': 'users',
  '/settings': 'settings',
  // Of no page of its own: who is not signed in sees it at every address.
  '/sign-in': 'sign-in',
}
