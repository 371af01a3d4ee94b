/** Every list of the interface, asked in each of its ways by one trader of a crowd or by an administrator. */
import { type EndpointName, endpoints } from '../../src/api/endpoints/index.ts'
import { agentStates, taskStates } from '../../src/api/flow.ts'
import { agentId, budgetId, deliveryId, SOMEONE, taskId, userId } from './crowd.ts'

/** What a list answers. */
export interface List<Item> {
  items: Item[]
  pagination: { total: number; totalPages: number; hasMore: boolean }
}

export interface Ask {
  name: EndpointName
  params: Record<string, string>
  query: Record<string, string>
}

const ask = (name: EndpointName, query: Ask['query'] = {}, params: Ask['params'] = {}): Ask => ({ name, params, query })
const each = (name: EndpointName, key: string, values: readonly string[]) =>
  values.map(value => ask(name, { [key]: value }))

const sorts = ['popular', 'newest', 'price_asc', 'price_desc']
const paymentStatuses = ['pending', 'completed', 'rejected']
const roles = ['buyer', 'builder']
const transactions = ['deposit', 'withdrawal', 'hold', 'refund', 'release', 'earning']

const [mine, myBuyer, myBuyingAgent] = [agentId(SOMEONE), userId(SOMEONE - 1), agentId(SOMEONE + 1)]

const transactionFilters = [
  { direction: 'in' },
  { taskId: taskId(1) },
  { from: '2026-01-01T00:00:00Z', to: '2030-01-01T00:00:00Z' },
]
const taskFilters = [
  { status: 'pending,in_progress,delivered' },
  { q: 'task' },
  { agent: mine },
  { agent: mine, q: 'task' },
  { disputed: 'true' },
]
const deliveryFilters = [
  ...['waiting', 'failed'].map(status => ({ status })),
  { event: 'task.message' },
  { q: 'number' },
  { taskId: taskId(1) },
  { since: '2026-01-01T00:00:00Z' },
]

/** Of one trader; `busy` is the number of a task with many messages. */
export const listsOf = (busy: number): Ask[] => [
  ...each('listAgents', 'sort', sorts),
  ...sorts.map(sort => ask('listAgents', { sort, category: 'code' })),
  ask('listAgents', { q: 'agent order' }),
  ask('listAgents', { q: 'number1', category: 'data' }),
  ask('listMyAgents'),
  ask('listSamples', {}, { id: mine }),
  ask('listMySamples', {}, { id: mine }),
  ask('listReviews', {}, { id: mine }),
  ask('listDeliveries', {}, { id: mine }),
  ...deliveryFilters.flatMap(query => [ask('listDeliveries', query, { id: mine }), ask('listMyDeliveries', query)]),
  ask('listMyDeliveries'),
  ask('listMyDeliveries', { agent: mine }),
  ask('listKeys'),
  ask('listNotifications'),
  ask('listNotifications', { unread: 'true' }),
  ask('listTasks'),
  ...each('listTasks', 'role', roles),
  ...each('listTasks', 'status', taskStates),
  ...roles.flatMap(role => taskStates.map(status => ask('listTasks', { role, status }))),
  ...taskFilters.flatMap(query => roles.map(role => ask('listTasks', { ...query, role }))),
  ...each('listTasks', 'sort', ['oldest', 'updated', 'price']),
  ask('listDeliverables', {}, { id: taskId(busy) }),
  ask('getTaskHistory', {}, { id: taskId(busy) }),
  ask('listMessages', {}, { id: taskId(busy) }),
  ask('listTransactions'),
  ...each('listTransactions', 'type', transactions),
  ...transactionFilters.map(query => ask('listTransactions', query)),
  ask('listLedger'),
  ask('listBudgets'),
  ...each('listBudgets', 'role', ['owner', 'agent']),
  ...[myBuyer, myBuyingAgent].flatMap(who => [
    ask('listHistory', {}, { userId: who }),
    ask('listHistory', { agentId: mine }, { userId: who }),
  ]),
]

export const listsOfAdmin: Ask[] = [
  ask('adminListAgents'),
  ...each('adminListAgents', 'status', agentStates),
  ask('adminListUsers'),
  ask('adminListUsers', { q: 'trader 5' }),
  ...each('adminListUsage', 'by', ['texts', 'files']),
  ask('adminListTasks'),
  ...each('adminListTasks', 'disputed', ['true', 'false']),
  ...taskFilters.map(query => ask('adminListTasks', query)),
  ...taskFilters.map(query => ask('adminListTasks', { ...query, userId: userId(SOMEONE) })),
  ask('adminListDeposits'),
  ...each('adminListDeposits', 'status', paymentStatuses),
  ask('adminListWithdrawals'),
  ...each('adminListWithdrawals', 'status', paymentStatuses),
]

/** Of whoever is signed in: no key is shown them. */
export const listsOfSession: Ask[] = [ask('listSessions')]

/**
 * Each endpoint that shows one thing or counts many. `busy`: a task of theirs that is completed; `reviewed`: one with a review; `worked`: one that
 * their agent did.
 */
export const readsOf = ({ busy, reviewed, worked }: Record<'busy' | 'reviewed' | 'worked', number>): Ask[] => [
  ask('me'),
  ask('getTotp'),
  ask('getAgent', {}, { id: mine }),
  ask('listCategories'),
  ask('getMyAgent', {}, { id: mine }),
  ask('getAgentChecks', {}, { id: mine }),
  ask('getRatings', {}, { id: mine }),
  ask('countMyDeliveries'),
  ask('countMyDeliveries', { agent: mine }),
  ...deliveryFilters.filter(query => !('status' in query)).map(query => ask('countMyDeliveries', query)),
  ask('getDelivery', {}, { id: mine, deliveryId: deliveryId(worked) }),
  ask('countTasks'),
  ...each('countTasks', 'role', roles),
  ...taskFilters
    .filter(query => !('status' in query))
    .flatMap(query => roles.map(role => ask('countTasks', { ...query, role }))),
  ask('getTask', {}, { id: taskId(busy) }),
  ask('diagnoseTask', {}, { id: taskId(worked) }),
  ask('downloadFile', {}, { id: taskId(busy), fileId: 'file_none' }),
  ask('getReview', {}, { id: taskId(reviewed) }),
  ask('getWallet'),
  ask('getDepositLimits'),
  ask('getEarnings'),
  ask('getBudget', {}, { id: budgetId(SOMEONE * 30) }),
  ...[myBuyer, myBuyingAgent].map(who => ask('getReputation', {}, { userId: who })),
  ask('adminGetAgent', {}, { id: mine }),
  ask('adminGetUser', {}, { id: userId(SOMEONE) }),
  ask('adminQueues'),
  ask('adminUsage'),
  ask('adminSecretKey'),
  ask('listBuyers'),
  ask('getClock'),
  ask('watchChanges', { follow: 'false' }),
]

/** Where a page of it lies. */
export function pathOf({ name, params, query }: Ask, page?: number): string {
  const path = endpoints[name].path.replace(/:(\w+)/g, (_, param) => params[param]!)
  return `${path}?${new URLSearchParams({ ...query, ...(page !== undefined && { page: String(page) }) })}`
}
