// engines: embedded, postgres and narrow at length; process: shared
/**
 * Every list of the interface, page by page: each row once, in its order, with the same total on each page. The rows are
 * those of one builder, one buyer and an administrator. Each is read within the bound of a page. Source: I-list, A-16, A-35, A-289.
 */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { limits } from '../../src/api/limits.ts'
import type { Db, Reader } from '../../src/store/db.ts'
import { engine } from '../support/databases.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace, type TestUser } from '../support/marketplace.ts'
import { sameNames } from '../support/same-names.ts'

interface Setup {
  marketplace: TestMarketplace
  agent: ListedAgent
  /** One that takes no webhooks any more. */
  failing: ListedAgent
  buyer: TestUser
  builder: TestUser
  /** A task with a long conversation and many versions. */
  busy: string
  /** Whether a page has room for one row alone. */
  boundPages: (isSmall: boolean) => void
}

type Item = Record<string, unknown>
type Order = 'newest first' | 'oldest first' | ((items: readonly Item[]) => unknown[])

interface List {
  who: (setup: Setup) => TestUser
  path: (setup: Setup) => string
  order: Order
  /** How many rows there are at least. */
  least?: number
  by?: 'session'
}

const builder = ({ builder }: Setup) => builder
const buyer = ({ buyer }: Setup) => buyer
const admin = ({ marketplace }: Setup) => marketplace.admin
const at = (path: string) => () => path
const ofAgent =
  (path: string) =>
  ({ agent }: Setup) =>
    path.replace(':id', agent.id)
const ofTask =
  (path: string) =>
  ({ busy }: Setup) =>
    path.replace(':id', busy)

const number = (item: Item, key: string) => item[key] as number
const popular: Order = items =>
  items.toSorted((a, b) => number(b, 'completedTasks') - number(a, 'completedTasks') || (a.id! < b.id! ? 1 : -1))
const priceUp: Order = items =>
  items.toSorted((a, b) => number(a, 'basePrice') - number(b, 'basePrice') || (a.id! < b.id! ? 1 : -1))
const priceDown: Order = items =>
  items.toSorted((a, b) => number(b, 'basePrice') - number(a, 'basePrice') || (a.id! < b.id! ? 1 : -1))

const begun: Order = items => items.toSorted((a, b) => String(a.at).localeCompare(String(b.at)))

/** Their ids count. */
const latest = (items: readonly Item[]) =>
  items.map(({ id }) => id as string).toSorted((a, b) => countIn(b) - countIn(a))
const countIn = (id: string) => Number(id.split('_')[1])

/** By the name of their record; some are asked in several ways. */
const lists: Readonly<Record<string, readonly List[]>> = {
  listSessions: [{ who: buyer, path: at('/api/auth/sessions'), order: 'newest first', by: 'session' }],
  listAgents: [
    { who: buyer, path: at('/api/agents?sort=newest'), order: 'newest first' },
    { who: buyer, path: at('/api/agents'), order: popular },
    { who: buyer, path: at('/api/agents?sort=popular&q=agent'), order: popular },
    { who: buyer, path: at('/api/agents?sort=price_asc&category=writing'), order: priceUp },
    { who: buyer, path: at('/api/agents?sort=price_desc'), order: priceDown },
  ],
  listMyAgents: [{ who: builder, path: at('/api/my/agents'), order: 'newest first' }],
  listMySamples: [{ who: builder, path: ofAgent('/api/my/agents/:id/samples'), order: 'oldest first' }],
  listSamples: [{ who: buyer, path: ofAgent('/api/agents/:id/samples'), order: 'oldest first' }],
  listReviews: [{ who: buyer, path: ofAgent('/api/agents/:id/reviews'), order: 'newest first' }],
  listDeliveries: [{ who: builder, path: ofAgent('/api/my/agents/:id/deliveries'), order: 'newest first' }],
  listMyDeliveries: [
    { who: builder, path: at('/api/my/deliveries'), order: 'newest first' },
    { who: builder, path: at('/api/my/deliveries?q=task&status=delivered'), order: 'newest first' },
  ],
  listKeys: [{ who: buyer, path: at('/api/my/api-keys'), order: 'oldest first' }],
  listNotifications: [{ who: builder, path: at('/api/notifications'), order: 'newest first' }],
  listTasks: [
    { who: buyer, path: at('/api/tasks'), order: 'newest first' },
    { who: buyer, path: at('/api/tasks?role=buyer&status=completed'), order: 'newest first' },
    { who: builder, path: at('/api/tasks?role=builder'), order: 'newest first' },
    { who: builder, path: at('/api/tasks'), order: 'newest first' },
    { who: buyer, path: at('/api/tasks?status=completed,in_progress&q=TASK'), order: 'newest first' },
    { who: buyer, path: at('/api/tasks?sort=oldest'), order: 'oldest first' },
  ],
  listDeliverables: [{ who: buyer, path: ofTask('/api/tasks/:id/deliverables'), order: 'oldest first' }],
  listMessages: [{ who: buyer, path: ofTask('/api/tasks/:id/messages'), order: 'oldest first' }],
  listTransactions: [
    { who: buyer, path: at('/api/wallet/transactions'), order: 'newest first' },
    { who: buyer, path: at('/api/wallet/transactions?type=hold'), order: 'newest first' },
    { who: builder, path: at('/api/wallet/transactions?type=earning'), order: 'newest first' },
  ],
  listLedger: [{ who: buyer, path: at('/api/wallet/ledger'), order: 'newest first' }],
  listBudgets: [{ who: buyer, path: at('/api/budget-authorizations'), order: 'oldest first' }],
  listHistory: [
    {
      who: builder,
      path: ({ buyer }) => `/api/agent/requestors/${buyer.id}/history`,
      order: 'newest first',
    },
  ],
  adminListAgents: [
    { who: admin, path: at('/api/admin/agents'), order: 'newest first' },
    { who: admin, path: at('/api/admin/agents?status=verified'), order: 'newest first' },
  ],
  adminListUsers: [{ who: admin, path: at('/api/admin/users'), order: 'oldest first' }],
  adminListUsage: [
    {
      who: admin,
      path: at('/api/admin/usage/accounts'),
      order: items =>
        items.toSorted((a, b) => number(b, 'textBytes') - number(a, 'textBytes') || (a.id! < b.id! ? 1 : -1)),
    },
  ],
  adminListTasks: [
    { who: admin, path: at('/api/admin/tasks'), order: 'newest first' },
    { who: admin, path: at('/api/admin/tasks?disputed=true'), order: 'newest first' },
    { who: admin, path: ({ buyer }) => `/api/admin/tasks?status=completed&userId=${buyer.id}`, order: 'newest first' },
  ],
  getTaskHistory: [
    { who: buyer, path: ofTask('/api/tasks/:id/history'), order: begun },
    { who: builder, path: ofTask('/api/tasks/:id/history'), order: begun },
  ],
  adminListDeposits: [
    { who: admin, path: at('/api/admin/deposits'), order: 'oldest first' },
    { who: admin, path: at('/api/admin/deposits?status=completed'), order: 'oldest first' },
  ],
  listExchanges: [
    { who: admin, path: at('/api/dev/exchanges'), order: latest },
    { who: admin, path: ({ busy }) => `/api/dev/exchanges?taskId=${busy}`, order: latest },
    { who: admin, path: ({ agent }) => `/api/dev/exchanges?failed=false&agentId=${agent.id}`, order: latest },
  ],
  adminListWithdrawals: [{ who: admin, path: at('/api/admin/withdrawals'), order: 'oldest first' }],
}

/**
 * Lists that no statement reads: records that a simulator keeps without their bodies, and the public list where it is in memory. A history has
 * of each text the beginning, so much as all of it has room for.
 */
const fromMemory = new Set(['listExchanges', 'getTaskHistory', ...(engine === 'embedded' ? ['listAgents'] : [])])

/** What a filter leaves of a whole list. */
interface Filter {
  values: (items: readonly Item[]) => readonly unknown[]
  leaves: (item: Item, value: string, setup: Setup) => boolean
}

/** Of each item what the filter is compared with. */
const is = (of: (item: Item) => unknown, ...others: readonly string[]): Filter => ({
  values: items => [...items.map(of), ...others],
  leaves: (item, value) => String(of(item)) === value,
})
const own = (key: string, ...others: readonly string[]) => is(item => item[key], ...others)
const part = (item: Item, of: string, key: string) => (item[of] as Item | null)?.[key]
const byTime = (key: string, leaves: (time: string, value: string) => boolean): Filter => ({
  values: items => [items.at(items.length >> 1)![key]],
  leaves: (item, value) => leaves(item[key] as string, value),
})
const since = (key: string) => byTime(key, (time, from) => time >= from)
/** The title of a task contains it, or it is an id. */
const words = (titleOf: (item: Item) => unknown, ...ids: readonly string[]): Filter => ({
  values: items => ['TASK 1', 'nothing', ...ids.map(key => items[1]![key])],
  leaves: (item, value) =>
    String(titleOf(item)).toLowerCase().includes(value.toLowerCase()) || ids.some(key => item[key] === value),
})
const agent: Filter = {
  values: items => [part(items[0]!, 'agent', 'id'), part(items[1]!, 'agent', 'slug')],
  leaves: (item, value) => [part(item, 'agent', 'id'), part(item, 'agent', 'slug')].includes(value),
}

const ofTasks = {
  status: {
    values: () => ['pending', 'in_progress', 'pending,completed,in_progress'],
    leaves: (item, value) => value.split(',').includes(item.status as string),
  },
  ...{
    q: words(({ title }) => title, 'id'),
    agent,
    disputed: is(({ dispute }) => part({ dispute }, 'dispute', 'status') === 'open', 'false'),
  },
} satisfies Record<string, Filter>
const ofDeliveries = {
  ...{
    status: own('status', 'waiting'),
    event: own('event', 'task.cancelled'),
    taskId: own('taskId'),
    since: since('createdAt'),
  },
  q: words(item => part(item, 'task', 'title'), 'id', 'taskId'),
}
const ofMoney = {
  ...{ type: own('type', 'earning'), direction: own('direction'), taskId: own('taskId'), from: since('createdAt') },
  to: byTime('createdAt', (time, to) => time < to),
}
const ofPayments = { status: own('status', 'pending') }

/** By list and by parameter. */
const filters: Readonly<Record<string, Readonly<Record<string, Filter>>>> = {
  listTasks: {
    ...ofTasks,
    role: { values: () => ['buyer', 'builder'], leaves: (item, role, { buyer }) => item[`${role}Id`] === buyer.id },
  },
  adminListTasks: {
    ...ofTasks,
    userId: { values: items => [items[0]!.buyerId], leaves: (item, id) => [item.buyerId, item.builderId].includes(id) },
  },
  ...{ listDeliveries: ofDeliveries, listMyDeliveries: { ...ofDeliveries, agent } },
  ...{ listTransactions: ofMoney, listLedger: ofMoney },
  listNotifications: { unread: { values: () => ['true'], leaves: ({ readAt }) => readAt === null } },
  ...{
    adminListDeposits: ofPayments,
    adminListWithdrawals: ofPayments,
    adminListAgents: { status: own('status', 'draft') },
  },
  adminListUsers: {
    email: own('email', 'nobody@example.com'),
    q: {
      values: () => ['VISITOR1', 'buyer@', 'isitor'],
      leaves: ({ name, email }, value) => [name, email].some(one => String(one).startsWith(value.toLowerCase())),
    },
  },
  listExchanges: {
    ...{ taskId: own('taskId'), agentId: own('agentId'), deliveryId: own('deliveryId'), event: own('event') },
    ...{ since: since('at'), status: is(({ status }) => status ?? 'none', '502') },
    failed: is(({ status }) => status === null || Math.trunc(Number(status) / 100) !== 2),
  },
}

/** Where it is told how many of a list are in each state. */
const counts: Readonly<Record<string, string>> = {
  ...{ listTasks: endpoints.countTasks.path, listMyDeliveries: endpoints.countMyDeliveries.path },
}

/** What sorts, and what has a test of its own. */
const otherQueries: Readonly<Record<string, readonly string[]>> = {
  ...{ listAgents: ['q', 'category', 'sort'], listTasks: ['sort'], listBudgets: ['role'], listExchanges: ['meant'] },
  ...{ listHistory: ['agentId'], adminListUsers: ['secondFactor'], adminListUsage: ['by'] },
}

const LEAST = 5
/** Of that one every wrong page and limit is tried. */
const WHOLE = 'listTasks'

const page = suite<Setup>('pages')

page.before(async setup => {
  setup.marketplace = await openTestMarketplace()
  const { marketplace } = setup
  setup.boundPages = boundsOfPages(marketplace.market.db)
  setup.builder = await marketplace.join('builder')
  setup.buyer = await marketplace.join('buyer', 500_000)
  for (let i = 0; i < LEAST; i++) {
    const { id } = await marketplace.join(`visitor${i}`)
    const written = [id, 1_000 + (i % 3)]
    await marketplace.market.db.write(tx => tx.run('INSERT INTO text_usage (user_id, bytes) VALUES ($1, $2)', written))
  }
  await setup.buyer.client.connectPayouts()
  await marketplace.stopHeartbeat()
  const later = () => marketplace.world.advance(marketplace.world.now() + 1_000)
  const { builder, buyer } = setup
  for (let i = 0; i < LEAST; i++) {
    later()
    const made = await marketplace.list(builder, { name: `The agent ${i}`, basePrice: 300 + ((i * 37) % 50) })
    setup.agent ??= made
    setup.failing = made
    const { id } = setup.agent
    await builder.client.addSample({ id, title: `Sample ${i}`, output: 'Of its work, which is good.' })
    await buyer.client.createBudget({ agentId: made.id, maxPerTask: 500, maxDaily: 1_000, maxMonthly: 2_000 })
    await buyer.client.createKey({ name: `key ${i}` })
    await buyer.client.deposit({ amount: 1_000 + i })
    await buyer.client.withdraw({ amount: 1_000 + i })
    await buyer.client.login({ email: buyer.email, password: buyer.password })
  }
  for (let i = 0; i < LEAST + 2; i++) {
    later()
    const { id } = await marketplace.draft(buyer, setup.agent, { title: `The task ${i}` })
    await buyer.client.submitTask({ id })
    await builder.client.acceptTask({ id })
    if (i === LEAST + 1) setup.busy = id
    if (i >= LEAST) continue
    await builder.client.deliverTask({ id, content: 'Done' })
    await buyer.client.approveTask({ id })
    await buyer.client.submitReview({ id, rating: 1 + (i % 5) })
    await buyer.client.disputeTask({ id, reason: 'It is not what was asked for, nor like it' })
  }
  for (let i = 0; i < LEAST; i++) {
    later()
    await buyer.client.sendMessage({ id: setup.busy, content: `Message ${i}` })
    await builder.client.deliverTask({ id: setup.busy, content: `Version ${i}` })
    await buyer.client.requestRevision({ id: setup.busy, reason: 'Once more, and with feeling' })
  }
  later()
  await marketplace.webhooksSent()
  for (const status of [410, 500]) {
    setup.failing.sink.status = status
    const { id } = await marketplace.draft(buyer, setup.failing)
    await buyer.client.submitTask({ id })
    await buyer.client.sendMessage({ id, content: 'Are you there?' })
    await marketplace.webhooksSent()
  }
  await marketplace.webhooksSent()
})

page.after(({ marketplace }) => marketplace.close())

interface Page {
  items: Item[]
  pagination: { page: number; limit: number; total: number; totalPages: number }
}

async function pageOf(setup: Setup, list: List, query: string) {
  const path = list.path(setup)
  const target = `${path}${path.includes('?') ? '&' : '?'}${query}`
  const answer = await list.who(setup).ask<Page>('GET', target, undefined, list.by ?? 'key')
  const items = answer.data && ((answer.data as unknown as { tasks?: Item[] }).tasks ?? answer.data.items)
  return { ...answer, items: items as Item[], pagination: answer.data?.pagination }
}

page('every list of the interface is looked at here', () => {
  const all = Object.entries(endpoints).filter(([, record]) => 'list' in record)
  sameNames(
    Object.keys(lists),
    all.map(([name]) => name),
  )
})

for (const [name, ways] of Object.entries(lists)) {
  page(`${name}: its pages hold each row once, in order, and each tells the total`, async setup => {
    for (const list of ways) {
      const where = list.path(setup)
      const all = await pageOf(setup, list, 'limit=100')
      assert.is(all.status, 200, where)
      const { items } = all
      assert.ok(items.length >= LEAST, `${where} has ${items.length}`)
      const found: Item[] = []
      for (let page = 1; page <= Math.ceil(items.length / 2); page++) {
        const part = await pageOf(setup, list, `limit=2&page=${page}`)
        found.push(...part.items)
        const totalPages = Math.ceil(items.length / 2)
        const expected = { page, limit: 2, total: items.length, totalPages, hasMore: page < totalPages }
        assert.equal(part.pagination, expected, where)
      }
      assert.equal(found, items, where)
      const ids = items.map(({ id, taskId }) => (id ?? taskId) as string)
      assert.is(new Set(ids).size, ids.length, where)
      assert.equal(ids, inOrder(list.order, items), `${where}: ${list.order}`)
      const beyond = await pageOf(setup, list, `limit=2&page=${Math.ceil(items.length / 2) + 1}`)
      assert.equal([beyond.status, beyond.items, beyond.pagination!.total], [200, [], items.length], where)
    }
  })

  page(`${name}: each filter leaves what it says, alone and with another`, async setup => {
    const [list] = ways as [List]
    const where = list.path(setup)
    const byKey = filters[name] ?? {}
    const { query } = endpoints[name as keyof typeof endpoints] as { query?: { shape: object } }
    const others = ['page', 'limit', ...(otherQueries[name] ?? [])]
    sameNames([...Object.keys(byKey), ...others], Object.keys(query!.shape))
    const { items } = await pageOf(setup, list, 'limit=100')
    const alone = Object.entries(byKey).map(([key, { values, leaves }]) =>
      [
        ...new Set(
          values(items)
            .filter(value => value != null)
            .map(String),
        ),
      ]
        .slice(0, 5)
        .map(value => ({ key, value, leaves })),
    )
    // Of accounts one thing is asked at a time.
    const paired = name === 'adminListUsers' ? [] : alone
    const together = paired.flatMap((ones, i) => paired.slice(i + 1).map(others => [ones[0]!, others.at(-1)!]))
    for (const asked of [...alone.flat().map(one => [one]), ...together]) {
      const text = new URLSearchParams(Object.fromEntries(asked.map(({ key, value }) => [key, value]))).toString()
      const left = items.filter(item => asked.every(({ value, leaves }) => leaves(item, value, setup)))
      const found = await pageOf(setup, list, `limit=100&${text}`)
      assert.equal(
        [found.status, found.items?.map(({ id, taskId }) => id ?? taskId)],
        [200, left.map(({ id, taskId }) => id ?? taskId)],
        `${where}?${text}`,
      )
      assert.is(found.pagination!.total, left.length, `the total of ${where}?${text}`)
      if (!(name in counts) || asked.some(({ key }) => key === 'status')) continue
      const counted = await list
        .who(setup)
        .call<Record<string, number>>('GET', `${counts[name]}?${text}`, undefined, 'key')
      const byState = Object.keys(counted).map(state => [state, left.filter(({ status }) => status === state).length])
      assert.equal(counted, Object.fromEntries(byState), `${counts[name]}?${text}`)
    }
  })

  if (!fromMemory.has(name)) {
    page(`${name}: a page with too much text is refused, and the limit that the refusal names works`, async setup => {
      for (const list of ways) {
        const where = list.path(setup)
        setup.boundPages(true)
        const refused = await pageOf(setup, list, `limit=${LEAST}`)
        const one = await pageOf(setup, list, 'limit=1')
        setup.boundPages(false)
        assert.is(refused.status, 400, where)
        assert.match(refused.error!, /^This page has more than .+ with limit=1$/)
        assert.equal([one.status, one.items.length], [200, 1], where)
      }
    })
  }

  page(`${name}: a page and a limit are whole numbers within their bounds`, async setup => {
    const [list] = ways as [List]
    for (const query of ['page=1', 'page=999999999', 'limit=1', 'limit=100', 'page=&limit=']) {
      assert.is((await pageOf(setup, list, query)).status, query === 'page=&limit=' ? 400 : 200, query)
    }
    const usual = await pageOf(setup, list, '')
    assert.equal([usual.pagination!.page, usual.pagination!.limit], [1, 20])
    for (const field of ['page', 'limit']) {
      const most = name === 'getTaskHistory' ? limits.history.page : limits.page.max
      const above = field === 'limit' ? String(most + 1) : '1000000000'
      // One place reads them for all lists.
      for (const value of name === WHOLE ? ['-1', '1.5', 'x', '1e1', '0x1', '%20', '0', above] : ['0', above]) {
        const { status, errors } = await pageOf(setup, list, `${field}=${value}`)
        assert.equal([status, Object.keys(errors ?? {})], [400, [field]], `${field}=${value}`)
      }
    }
  })
}

/** Lets pages be as small as one row: a list whose rows are read without the bound comes whole. */
function boundsOfPages(db: Db) {
  const read = db.read.bind(db)
  let isSmall = false
  const bounded = (q: Reader): Reader => ({
    get: (sql, values) => q.get(sql, values),
    all: (sql, values, mostBytes) => q.all(sql, values, mostBytes === undefined ? undefined : 1),
    changes: q.changes,
  })
  db.read = (work, flow) => read(q => work(isSmall ? bounded(q) : q), flow)
  return (small: boolean) => {
    isSmall = small
  }
}

function inOrder(order: Order, items: readonly Item[]): unknown[] {
  const idOf = ({ id, taskId }: Item) => (id ?? taskId) as string
  if (order === latest) return order(items)
  if (typeof order === 'function') return (order(items) as Item[]).map(idOf)
  const timeOf = (item: Item) => (item.createdAt ?? item.completedAt ?? '') as string
  const key = (item: Item) => `${timeOf(item)} ${idOf(item)}`
  const sorted = items.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)).map(idOf)
  return order === 'oldest first' ? sorted : sorted.reverse()
}

page('a list of more than 10,000 entries counts and shows no more of them', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer')
  const { id } = await marketplace.draft(buyer, await marketplace.list(await marketplace.join('builder')))
  await marketplace.market.db.write(tx =>
    tx.run(
      `WITH RECURSIVE n (i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM n WHERE i < 20049)
       INSERT INTO messages (id, task_id, sender_id, sender_role, content, created_at)
       SELECT 'msg_' || i, $1, $2, 'buyer', 'x', 1 FROM n`,
      [id, buyer.id],
    ),
  )
  const ask = (query: string) => buyer.ask<Page>('GET', `/api/tasks/${id}/messages?${query}`)
  const counts = { limit: 20, total: 10_000, totalPages: 500 }
  assert.equal((await ask('page=1')).data!.pagination, { page: 1, ...counts, hasMore: true })
  const last = (await ask('page=500')).data!
  assert.equal(last.pagination, { page: 500, ...counts, hasMore: false })
  assert.is((last.items.at(-1) as { id: string }).id, 'msg_19999')
  const behind = (await ask('page=501')).data!
  assert.equal(behind, { items: [], pagination: { page: 501, ...counts, hasMore: false } })
  await marketplace.close()
})

page.run()
