/** Lives of tasks, from draft to the end, and what administrators do about them and about money. */
import type { admins } from '../../src/api/endpoints/admin.ts'
import type { categories } from '../../src/api/endpoints/categories.ts'
import { type callbacks, taskRoles, type tasks } from '../../src/api/endpoints/tasks.ts'
import { agentStates, taskStates } from '../../src/api/flow.ts'
import { connectStatuses, disputeOutcomes } from '../../src/api/records.ts'
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
    const party = who === 'either' ? scene.dice.pick(['buyer', 'builder'] as const) : who
    return { by: of[party], at: of.at, ...more(scene, of) }
  }

const taskFields = ({ dice }: Scene) => ({
  title: dice.text(5, 200),
  description: dice.text(20, 2_000),
  agreedPrice: dice.weighted([
    [500, 5],
    [dice.from(200, 3_000), 5],
    [1_000_000_000_000, 0.2],
    [60_000, 1],
  ]),
  ...(dice.often(0.4) && { requirements: dice.pick([null, '', dice.text(1, 500)]) }),
})

const deliverable = ({ dice }: Scene) => ({
  content: dice.text(1, 3_000),
  ...(dice.often(0.4) && { notes: dice.pick([null, '', dice.text(1, 500)]) }),
})

const reason = ({ dice }: Scene) => ({ body: { reason: dice.text(10, 500) } })

export const taskSteps: Makers<keyof typeof tasks | keyof typeof callbacks> = {
  listTasks: scene => {
    const { dice } = scene
    const status = dice.often(0.5) ? { status: dice.pick(taskStates) } : {}
    const role = dice.often(0.6) ? { role: dice.pick(taskRoles) } : {}
    return { by: someone(scene), query: { ...status, ...role, ...paging(scene) } }
  },
  createTask: scene => {
    const { model, dice } = scene
    const all = agents(scene, listed)
    const agent = dice.often(0.5) ? dice.pick(all.slice(0, 6)) : dice.recent(all)
    if (!agent) return undefined
    const budget = dice.often(0.3) ? choose(scene, 'bud', ({ status }) => status === 'active') : undefined
    const hirer = budget && ownerOf(scene, model.get(budget.agentId)?.builder?.id)
    const hiring = budget ? { budgetAuthorizationId: budget.id } : {}
    // The first have money.
    const buyer = dice.often(0.8) ? dice.pick(model.people.slice(1, 8)) : someone(scene)
    return { by: hirer ?? buyer, body: { agentId: agent.id, ...taskFields(scene), ...hiring } }
  },
  getTask: as('either'),
  updateTask: as('buyer', inState('draft'), scene => {
    const agent = scene.dice.often(0.3) ? scene.dice.recent(agents(scene, listed)) : undefined
    const fields = Object.entries({ ...taskFields(scene), ...(agent && { agentId: agent.id }) })
    return { body: Object.fromEntries(fields.filter(() => scene.dice.often(0.4))) }
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
    const by = ownerOf(scene, scene.dice.often(0.5) ? task?.buyerId : task?.builderId)
    return task && { by, at: { id: task.id }, query: paging(scene) }
  },
  sendMessage: as('either', inState('pending', 'in_progress', 'delivered', 'completed'), ({ dice }) => ({
    body: { content: dice.text(1, 1_000) },
  })),
  getReview: as('either', inState('completed')),
  submitReview: as('buyer', inState('completed'), ({ dice }) => ({
    body: { rating: dice.from(1, 5), ...(dice.often(0.6) && { comment: dice.pick([null, '', dice.text(1, 300)]) }) },
  })),

  agentAccept: as('builder', inState('pending')),
  agentReject: as('builder', inState('pending'), scene => (scene.dice.often(0.5) ? reason(scene) : {})),
  agentDeliver: as('builder', inState('in_progress'), scene =>
    scene.dice.often(0.6) ? { form: formOf(scene) } : { body: deliverable(scene) },
  ),
  agentCallback: scene => {
    const of = about(scene, inState('pending', 'in_progress', 'in_progress'))
    const secret = of && scene.model.secrets.get(of.task.agentId)
    if (!of || !secret) return undefined
    return {
      at: of.at,
      body: callbackBody(scene, of.task),
      signed: { secret, ageMs: scene.dice.from(-200_000, 200_000) },
    }
  },
}

function callbackBody(scene: Scene, { id, status }: Known) {
  const { dice } = scene
  const taskId = dice.often(0.2) ? { taskId: id } : {}
  if (dice.often(0.2)) return { action: 'message', [dice.pick(['content', 'message'])]: dice.text(1, 500), ...taskId }
  if (status === 'in_progress') return { action: 'deliver', ...deliverable(scene), ...taskId }
  if (dice.often(0.1)) return { action: 'reject', reason: dice.text(1, 100), ...taskId }
  return { action: 'accept', ...taskId }
}

const fileNames = ({ dice }: Scene, extension: string) =>
  dice.pick([
    `a.${extension}`,
    `Ärger 日本.${extension}`,
    `../../etc/x.${extension}`,
    `UPPER.${extension.toUpperCase()}`,
  ])

function formOf(scene: Scene): Part[] {
  const { dice } = scene
  const extensions = Object.keys(samples)
  const files = Array.from(
    {
      length: dice.weighted([
        [1, 5],
        [0, 1],
        [2, 3],
        [5, 1],
        [6, 0.5],
      ]),
    },
    (): Part => {
      const extension = dice.pick(extensions)
      const bytes = samples[dice.often(0.92) ? extension : dice.pick(extensions)]!
      return { name: 'files', fileName: fileNames(scene, extension), content: bytes }
    },
  )
  const fields = Object.entries(deliverable(scene)).filter(([name]) => name !== 'content' || dice.often(0.7))
  return [...fields.map(([name, value]) => ({ name, content: String(value ?? '') })), ...files]
}

const paid = (scene: Scene, type: 'deposit' | 'withdrawal') => {
  const one = choose(scene, 'trf', record => record.type === type && record.status === 'pending')
  return one && { by: scene.model.admin, via: 'session' as const, at: { id: one.id } }
}

const reviewed = (scene: Scene) => {
  const agent = choose(scene, 'agt', ({ status }) => status === 'pending_review')
  return agent && { by: scene.model.admin, at: { id: agent.id } }
}

const payments = (scene: Scene) => {
  const status = scene.dice.often(0.5) ? { status: scene.dice.pick(['pending', 'completed', 'rejected']) } : {}
  return { by: scene.model.admin, query: { ...status, ...paging(scene) } }
}

const categoryFields = ({ model, dice }: Scene) => ({
  name: dice.often(0.1) ? dice.pick(['Writing', 'writing', 'WRITING']) : `${dice.text(2, 60)} ${model.next()}`,
  description: dice.text(1, 200),
  ...(dice.often(0.3) && { slug: dice.pick(['writing', `slug-${model.next()}`]) }),
})

const madeCategory = ({ id }: Known) => id.startsWith('‹')

/** Mostly good ends: whoever is suspended or banned can do little. */
const standings = ({ dice }: Scene) => ({
  identityVerified: dice.often(0.9),
  connectStatus: dice.weighted([
    ['connected', 8],
    [dice.pick(connectStatuses), 1],
  ]),
  suspended: dice.often(0.06),
  banned: dice.often(0.04),
  isBuilder: dice.often(0.95),
  ...(dice.often(0.1) && { chargebacks: dice.pick([0, 0, 1, 1_000_000]) }),
})

export const adminSteps: Makers<keyof typeof admins | keyof typeof categories> = {
  adminListAgents: scene => {
    const status = scene.dice.often(0.5) ? { status: scene.dice.pick(agentStates) } : {}
    return { by: scene.model.admin, query: { ...status, ...paging(scene) } }
  },
  adminGetAgent: scene => {
    const agent = scene.dice.recent(scene.model.all('agt'))
    return agent && { by: scene.model.admin, at: { id: agent.id } }
  },
  approveAgent: reviewed,
  rejectAgent: scene => {
    const agent = reviewed(scene)
    return agent && { ...agent, ...reason(scene) }
  },
  adminListUsers: scene => ({ by: scene.model.admin, query: paging(scene) }),
  adminUpdateUser: scene => {
    const person = scene.dice.pick(scene.model.people.slice(1))
    return { by: scene.model.admin, at: { id: person.id }, body: standings(scene) }
  },
  adminListTasks: scene => {
    const disputed = scene.dice.often(0.6) ? { disputed: scene.dice.pick(['true', 'false']) } : {}
    return { by: scene.model.admin, query: { ...disputed, ...paging(scene) } }
  },
  resolveTask: scene => {
    const { dice } = scene
    const task = choose(scene, 'task', one => inDispute(one) || (dice.often(0.05) && one.status === 'delivered'))
    if (!task) return undefined
    const outcome = dice.pick(disputeOutcomes)
    const part = outcome === 'split' ? { refundAmount: dice.from(1, Math.max(1, (task.agreedPrice ?? 2) - 1)) } : {}
    return { by: scene.model.admin, via: 'session', at: { id: task.id }, body: { outcome, ...part } }
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
