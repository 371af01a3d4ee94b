/** Lives of tasks, from draft to the end, and what administrators do about them and about money. */
import type { admins } from '../../src/api/endpoints/admin.ts'
import type { categories } from '../../src/api/endpoints/categories.ts'
import { type callbacks, taskRoles, taskSorts, tasks } from '../../src/api/endpoints/tasks.ts'
import { agentStates, disputeOutcomes, taskStates } from '../../src/api/flow.ts'
import { connectStatuses } from '../../src/api/money-records.ts'
import { samples } from '../web/files.ts'
import type { Known } from './model.ts'
import {
  agents,
  choose,
  listed,
  type Makers,
  ownerOf,
  type Part,
  type Plan,
  paging,
  type Scene,
  someone,
} from './plan.ts'

const inState =
  (...states: string[]) =>
  ({ status }: Known) =>
    states.includes(status)
const inDispute = ({ dispute }: Known) => dispute?.status === 'open'

/** A task that fits, and the people of it. */
function about(scene: Scene, fits: (task: Known) => boolean = () => true) {
  const task = choose(scene, 'task', one => Boolean(one.buyerId) && fits(one) && !inDispute(one))
  if (!task) return undefined
  return { task, at: { id: task.id }, buyer: ownerOf(scene, task.buyerId), builder: ownerOf(scene, task.builderId) }
}

type About = NonNullable<ReturnType<typeof about>>

const as =
  (
    who: 'buyer' | 'builder' | 'either',
    fits?: (task: Known) => boolean,
    more: (scene: Scene, of: About) => object = () => ({}),
  ) =>
  (scene: Scene): Plan | undefined => {
    const of = about(scene, fits)
    if (!of) return undefined
    const party = who === 'either' ? scene.random.pick(['buyer', 'builder'] as const) : who
    return { by: of[party], at: of.at, ...more(scene, of) }
  }

const taskFields = ({ random }: Scene) => ({
  title: random.text(5, 200),
  description: random.text(20, 2_000),
  agreedPrice: random.weighted([
    [500, 5],
    [random.from(200, 3_000), 5],
    [1_000_000_000_000, 0.2],
    [60_000, 1],
  ]),
  ...(random.often(0.4) && { requirements: random.pick([null, '', random.text(1, 500)]) }),
  ...random.others(tasks.updateTask.body, ['title', 'description', 'agreedPrice', 'requirements', 'agentId']),
})

const deliverable = ({ random }: Scene) => ({
  content: random.text(1, 3_000),
  ...(random.often(0.4) && { notes: random.pick([null, '', random.text(1, 500)]) }),
})

const reason = ({ random }: Scene) => ({ body: { reason: random.text(10, 500) } })

const inStates = ({ random }: Scene) =>
  random.often(0.5) ? { status: random.pick([...taskStates, 'pending,in_progress,delivered', 'draft,draft']) } : {}

/** Some of the filters that no index serves. */
function searched(scene: Scene): Record<string, unknown> {
  const { random } = scene
  const some = <T>(value: T) => random.often(0.2) && value
  return {
    ...some({ q: random.often(0.8) ? random.word() : (choose(scene, 'task', () => true)?.id ?? '') }),
    ...some({ agent: random.recent(agents(scene))?.slug ?? 'none' }),
    ...some({ disputed: random.pick(['true', 'false']) }),
  }
}

export const taskSteps: Makers<keyof typeof tasks | keyof typeof callbacks> = {
  listTasks: scene => {
    const { random } = scene
    const role = random.often(0.6) ? { role: random.pick(taskRoles) } : {}
    const sort = random.often(0.3) ? { sort: random.pick(taskSorts) } : {}
    return { by: someone(scene), query: { ...inStates(scene), ...searched(scene), ...role, ...sort, ...paging(scene) } }
  },
  countTasks: scene => ({ by: someone(scene), query: searched(scene) }),
  createTask: scene => {
    const { model, random } = scene
    const all = agents(scene, listed)
    const agent = random.often(0.5) ? random.pick(all.slice(0, 6)) : random.recent(all)
    if (!agent) return undefined
    const budget = random.often(0.3) ? choose(scene, 'bud', ({ status }) => status === 'active') : undefined
    const hirer = budget && ownerOf(scene, model.get(budget.agentId)?.builder?.id)
    const hiring = budget ? { budgetAuthorizationId: budget.id } : {}
    // The first have money.
    const buyer = random.often(0.8) ? random.pick(model.people.slice(1, 8)) : someone(scene)
    return { by: hirer ?? buyer, body: { agentId: agent.id, ...taskFields(scene), ...hiring } }
  },
  getTask: as('either'),
  diagnoseTask: as('either'),
  getTaskHistory: as('either', undefined, scene => ({ query: paging(scene) })),
  updateTask: as('buyer', inState('draft'), scene => {
    const agent = scene.random.often(0.3) ? scene.random.recent(agents(scene, listed)) : undefined
    const fields = Object.entries({ ...taskFields(scene), ...(agent && { agentId: agent.id }) })
    return { body: Object.fromEntries(fields.filter(() => scene.random.often(0.4))) }
  }),
  submitTask: as('buyer', inState('draft')),
  cancelTask: as('buyer', inState('draft', 'pending')),
  acceptTask: as('builder', inState('pending')),
  deliverTask: as('builder', inState('in_progress'), scene => ({ body: deliverable(scene) })),
  approveTask: as('buyer', inState('delivered')),
  requestRevision: as('buyer', inState('delivered'), reason),
  disputeTask: as('buyer', inState('in_progress', 'delivered', 'completed'), reason),
  listDeliverables: as('either', inState('delivered', 'completed'), scene => ({ query: paging(scene) })),
  downloadFile: scene => {
    const file = choose(scene, 'file', ({ url }) => Boolean(url))
    const id = file && /tasks\/(‹[^›]+›)/.exec(file.url)?.[1]
    if (!file || !id) return undefined
    return { by: ownerOf(scene, scene.model.get(id)?.buyerId), at: { id, fileId: file.id } }
  },
  listMessages: scene => {
    const message = choose(scene, 'msg', () => true)
    const task = scene.model.get(message?.taskId ?? '')
    const by = ownerOf(scene, scene.random.often(0.5) ? task?.buyerId : task?.builderId)
    return task && { by, at: { id: task.id }, query: paging(scene) }
  },
  sendMessage: as('either', inState('pending', 'in_progress', 'delivered', 'completed'), ({ random }) => ({
    body: { content: random.text(1, 1_000) },
  })),
  getReview: as('either', inState('completed')),
  submitReview: as('buyer', inState('completed'), ({ random }) => ({
    body: {
      rating: random.from(1, 5),
      ...(random.often(0.6) && { comment: random.pick([null, '', random.text(1, 300)]) }),
    },
  })),

  agentAccept: as('builder', inState('pending')),
  agentReject: as('builder', inState('pending'), scene => (scene.random.often(0.5) ? reason(scene) : {})),
  agentDeliver: as('builder', inState('in_progress'), scene =>
    scene.random.often(0.6) ? { form: formOf(scene) } : { body: deliverable(scene) },
  ),
  agentCallback: scene => {
    const of = about(scene, inState('pending', 'in_progress', 'in_progress'))
    const secret = of && scene.model.secrets.get(of.task.agentId)
    if (!of || !secret) return undefined
    return {
      at: of.at,
      body: callbackBody(scene, of.task),
      signed: { secret, ageMs: scene.random.from(-200_000, 200_000) },
    }
  },
}

function callbackBody(scene: Scene, { id, status }: Known) {
  const { random } = scene
  const taskId = random.often(0.2) ? { taskId: id } : {}
  if (random.often(0.2))
    return { action: 'message', [random.pick(['content', 'message'])]: random.text(1, 500), ...taskId }
  if (status === 'in_progress') return { action: 'deliver', ...deliverable(scene), ...taskId }
  if (random.often(0.1)) return { action: 'reject', reason: random.text(1, 100), ...taskId }
  return { action: 'accept', ...taskId }
}

const fileNames = ({ random }: Scene, extension: string) =>
  random.pick([
    `a.${extension}`,
    `Ärger 日本.${extension}`,
    `../../etc/x.${extension}`,
    `UPPER.${extension.toUpperCase()}`,
  ])

function formOf(scene: Scene): Part[] {
  const { random } = scene
  const extensions = Object.keys(samples)
  const files = Array.from(
    {
      length: random.weighted([
        [1, 5],
        [0, 1],
        [2, 3],
        [5, 1],
        [6, 0.5],
      ]),
    },
    (): Part => {
      const extension = random.pick(extensions)
      const bytes = samples[random.often(0.92) ? extension : random.pick(extensions)]!
      return { name: 'files', fileName: fileNames(scene, extension), content: bytes }
    },
  )
  const fields = Object.entries(deliverable(scene)).filter(([name]) => name !== 'content' || random.often(0.7))
  return [...fields.map(([name, value]) => ({ name, content: String(value ?? '') })), ...files]
}

const paid = (scene: Scene, type: 'deposit' | 'withdrawal') => {
  const one = choose(scene, 'trf', record => record.type === type && record.status === 'pending')
  const why = scene.random.often(0.3) ? { body: { reason: scene.random.text(1, 200) } } : {}
  return one && { by: scene.model.admin, via: 'session' as const, at: { id: one.id }, ...why }
}

const reviewed = (scene: Scene) => {
  const agent = choose(scene, 'agt', ({ status }) => status === 'pending_review')
  return agent && { by: scene.model.admin, at: { id: agent.id } }
}

const payments = (scene: Scene) => {
  const status = scene.random.often(0.5) ? { status: scene.random.pick(['pending', 'completed', 'rejected']) } : {}
  return { by: scene.model.admin, query: { ...status, ...paging(scene) } }
}

const categoryFields = ({ model, random }: Scene) => ({
  name: random.often(0.1) ? random.pick(['Writing', 'writing', 'WRITING']) : `${random.text(2, 60)} ${model.next()}`,
  description: random.text(1, 200),
  ...(random.often(0.3) && { slug: random.pick(['writing', `slug-${model.next()}`]) }),
})

const madeCategory = ({ id }: Known) => id.startsWith('‹')

/** Mostly good ends: whoever is suspended or banned can do little. */
const standings = ({ random }: Scene) => ({
  identityVerified: random.often(0.9),
  connectStatus: random.weighted([
    ['connected', 8],
    [random.pick(connectStatuses), 1],
  ]),
  suspended: random.often(0.06),
  banned: random.often(0.08),
  isBuilder: random.often(0.95),
  ...(random.often(0.1) && { chargebacks: random.pick([0, 0, 1, 1_000_000]) }),
})

export const adminSteps: Makers<keyof typeof admins | keyof typeof categories> = {
  adminListAgents: scene => {
    const status = scene.random.often(0.5) ? { status: scene.random.pick(agentStates) } : {}
    return { by: scene.model.admin, query: { ...status, ...paging(scene) } }
  },
  adminGetAgent: scene => {
    const agent = scene.random.recent(scene.model.all('agt'))
    return agent && { by: scene.model.admin, at: { id: agent.id } }
  },
  approveAgent: reviewed,
  rejectAgent: scene => {
    const agent = reviewed(scene)
    return agent && { ...agent, ...reason(scene) }
  },
  adminListUsers: scene => {
    const { random, model } = scene
    const q = random.often(0.5) ? { q: (random.pick(model.people).name ?? '').slice(0, random.from(1, 9)) || 'a' } : {}
    return { by: model.admin, query: { ...q, ...paging(scene) } }
  },
  adminGetUser: scene => ({ by: scene.model.admin, at: { id: scene.random.pick(scene.model.people.slice(1)).id } }),
  adminQueues: scene => ({ by: scene.model.admin }),
  adminSendMessage: scene => {
    const task = choose(scene, 'task', () => true)
    return task && { by: scene.model.admin, at: { id: task.id }, body: { content: scene.random.text(1, 500) } }
  },
  adminUpdateUser: scene => {
    const person = scene.random.pick(scene.model.people.slice(1))
    return { by: scene.model.admin, at: { id: person.id }, body: standings(scene) }
  },
  purgeUser: scene => {
    const person = scene.random.pick(scene.model.people.slice(1))
    return { by: scene.model.admin, via: 'session', at: { id: person.id } }
  },
  adminSecretKey: scene => ({ by: scene.model.admin }),
  rotateSecretKey: scene => ({ by: scene.model.admin, via: 'session' }),
  adminUsage: scene => ({ by: scene.model.admin }),
  adminListUsage: scene => ({
    by: scene.model.admin,
    query: { by: scene.random.pick(['texts', 'files']), ...paging(scene) },
  }),
  adminListTasks: scene => {
    const userId = scene.random.often(0.2) ? { userId: someone(scene).id } : {}
    return {
      by: scene.model.admin,
      query: { ...inStates(scene), ...searched(scene), ...userId, ...paging(scene) },
    }
  },
  resolveTask: scene => {
    const { random } = scene
    const task = choose(scene, 'task', one => inDispute(one) || (random.often(0.05) && one.status === 'delivered'))
    if (!task) return undefined
    const outcome = random.pick(disputeOutcomes)
    const part = outcome === 'split' ? { refundAmount: random.from(1, Math.max(1, (task.agreedPrice ?? 2) - 1)) } : {}
    return {
      by: scene.model.admin,
      via: 'session',
      at: { id: task.id },
      body: { outcome, ...part, ...(random.often(0.5) && { reason: random.text(1, 200) }) },
    }
  },
  adminListDeposits: payments,
  adminListWithdrawals: payments,
  confirmDeposit: scene => paid(scene, 'deposit'),
  rejectDeposit: scene => paid(scene, 'deposit'),
  confirmWithdrawal: scene => paid(scene, 'withdrawal'),
  rejectWithdrawal: scene => paid(scene, 'withdrawal'),
  checkLedger: scene => ({ by: scene.model.admin }),
  createCategory: scene => ({ by: scene.model.admin, body: categoryFields(scene) }),
  updateCategory: scene => {
    const one = choose(scene, 'cat', madeCategory)
    return one && { by: scene.model.admin, at: { id: one.id }, body: categoryFields(scene) }
  },
  deleteCategory: scene => {
    const one = choose(scene, 'cat', madeCategory)
    return one && { by: scene.model.admin, at: { id: one.id }, done: (_, { at }) => scene.model.forget(at?.id ?? '') }
  },
}
