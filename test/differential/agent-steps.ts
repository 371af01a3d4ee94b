/** Agents, their samples, deliveries and tests; the public list; budgets. */
import { agents as agentRecords } from '../../src/api/endpoints/agents.ts'
import { budgetRoles, type budgets } from '../../src/api/endpoints/budgets.ts'
import type { deliveries } from '../../src/api/endpoints/deliveries.ts'
import type { samples } from '../../src/api/endpoints/samples.ts'
import { agentEvents } from '../../src/api/flow.ts'
import { deliveryStates, pricingModels } from '../../src/api/records.ts'
import type { Known } from './model.ts'
import type { Answer } from './pair.ts'
import { agents, choose, listed, type Makers, ownerOf, type Plan, paging, type Scene, someone, sorts } from './plan.ts'
import { type Behaviour, behaviours } from './sink.ts'

const good: readonly (readonly [Behaviour, number])[] = [
  ['ok', 8],
  ['flaky', 3],
  ['moody', 1],
  ...(Object.keys(behaviours) as Behaviour[]).map(behaviour => [behaviour, 0.4] as const),
]

/** A host for each, so that no two wait for each other. */
const webhookUrl = ({ model, random }: Scene) =>
  `https://agent-at-${model.next()}.example/${random.weighted(good)}/${random.pick(['', '?q=%C3%A4', 'ä', 'a%20b'])}`

/** The fields with values of their own here: one that is added to the interface gets some by itself. */
const GIVEN =
  'name tagline description pricingModel basePrice categoryIds turnaroundHours maxRevisions tags webhookUrl'.split(' ')

function agentFields(scene: Scene) {
  const { model, random } = scene
  const categories = model.all('cat').map(({ id }) => id)
  const ids = new Set(Array.from({ length: random.from(1, 4) }, () => random.pick(categories)))
  return {
    name: random.text(2, 100),
    tagline: random.text(10, 200),
    description: random.text(50, 1_000),
    pricingModel: random.pick(pricingModels),
    basePrice: random.pick([200, 201, 500, 500, 500, 1_000, 999_999_999_999, 1_000_000_000_000]),
    categoryIds: [...ids],
    ...(random.often(0.5) && { turnaroundHours: random.pick([1, 24, 720]) }),
    ...(random.often(0.7) && { maxRevisions: random.pick([null, 0, 1, 2, 10]) }),
    ...(random.often(0.5) && { tags: Array.from({ length: random.below(5) }, () => random.text(1, 50)) }),
    ...random.others(agentRecords.createAgent.body, GIVEN),
  }
}

/** Some of the fields. */
function part(random: Scene['random'], fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(() => random.often(0.3)))
}

const own = (scene: Scene, fits: (agent: Known) => boolean = () => true) => {
  const agent = choose(scene, 'agt', one => Boolean(one.builder) && fits(one))
  return agent && { by: ownerOf(scene, agent.builder?.id), at: { id: agent.id } }
}

/** By its id or its slug. */
const named = (scene: Scene) => {
  const agent = choose(scene, 'agt', listed)
  return agent && { at: { id: scene.random.often(0.5) ? agent.id : (agent.slug ?? agent.id) } }
}

const reader = (scene: Scene) => (scene.random.often(0.3) ? { by: someone(scene) } : {})

/** What the agent is given to sign with. A repeated answer holds no secret. */
export const secretTaken =
  ({ model }: Scene) =>
  ({ data }: Answer, { at }: Plan) => {
    const { secret } = data as { secret?: string }
    const id = at?.id
    if (secret && id) model.secrets.set(id, secret)
  }

export const agentSteps: Makers<keyof typeof agentRecords | keyof typeof samples | keyof typeof deliveries> = {
  listAgents: scene => {
    const { model, random } = scene
    const category = random.pick(model.all('cat'))
    const byName = category && random.pick([category.name, category.slug, category.name?.toUpperCase(), random.word()])
    return {
      ...reader(scene),
      query: {
        ...(random.often(0.5) && { q: random.search() }),
        ...(random.often(0.25) && { category: byName }),
        ...(random.often(0.7) && { sort: random.pick(sorts) }),
        ...paging(scene),
      },
    }
  },
  getAgent: scene => {
    const about = named(scene)
    return about && { ...reader(scene), ...about }
  },
  listCategories: reader,
  listMyAgents: scene => ({ by: someone(scene), query: paging(scene) }),
  createAgent: scene => ({
    by: someone(scene),
    body: { ...agentFields(scene), ...(scene.random.often(0.8) && { webhookUrl: webhookUrl(scene) }) },
  }),
  getMyAgent: scene => own(scene),
  getAgentChecks: scene => own(scene),
  updateAgent: scene => {
    const { random } = scene
    const more = {
      ...(random.often(0.1) && { webhookUrl: random.often(0.9) ? webhookUrl(scene) : null }),
      ...(random.often(0.2) && { avatarUrl: random.pick([null, 'https://example.com/ä.png']) }),
    }
    const about = own(scene)
    return about && { ...about, body: { ...part(random, agentFields(scene)), ...more } }
  },
  deleteAgent: scene => {
    const about = own(scene, ({ status }) => status === 'draft' || status === 'inactive')
    return about && { ...about, done: (_, { at }) => scene.model.forget(at?.id ?? '') }
  },
  publishAgent: scene => own(scene, ({ status }) => status === 'draft'),
  deactivateAgent: scene => own(scene, listed),
  reactivateAgent: scene => own(scene, ({ status }) => status === 'inactive'),
  rotateSecret: scene => {
    const about = own(scene, ({ hasWebhookSecret }) => hasWebhookSecret === false)
    if (!about) return undefined
    return {
      ...about,
      ...(scene.random.often(0.3) && { body: { graceHours: scene.random.from(0, 24) } }),
      done: secretTaken(scene),
    }
  },
  testConnection: scene => own(scene),
  testCallback: ({ model, random }) => ({
    at: { id: `test_${'0'.repeat(32)}` },
    body: { action: 'accept' },
    signed: { secret: random.pick([...model.secrets.values()]) ?? 'none', ageMs: 0 },
  }),

  listMySamples: scene => {
    const about = own(scene)
    return about && { ...about, query: paging(scene) }
  },
  addSample: scene => {
    const { random } = scene
    const about = own(scene)
    const input = random.often(0.5) ? { input: random.pick([null, '', random.text(1, 500)]) } : {}
    return about && { ...about, body: { title: random.text(2, 200), output: random.text(1, 2_000), ...input } }
  },
  deleteSample: scene => {
    const sample = choose(scene, 'smp', () => true)
    if (!sample) return undefined
    const { id } = sample.at
    const agent = scene.model.get(id ?? '')
    return {
      by: ownerOf(scene, agent?.builder?.id),
      at: { id: agent?.id ?? 'none', sampleId: sample.id },
      done: (_, { at }) => scene.model.forget(at?.sampleId ?? ''),
    }
  },
  listSamples: scene => {
    const about = named(scene)
    return about && { ...reader(scene), ...about, query: paging(scene) }
  },
  getRatings: scene => {
    const about = named(scene)
    return about && { ...reader(scene), ...about }
  },
  listReviews: scene => {
    const about = named(scene)
    return about && { ...reader(scene), ...about, query: paging(scene) }
  },

  listDeliveries: scene => {
    const about = own(scene)
    return about && { ...about, query: { ...deliveriesAsked(scene), ...paging(scene) } }
  },
  listMyDeliveries: scene => ({ ...ofOwn(scene), query: { ...deliveriesAsked(scene), ...paging(scene) } }),
  countMyDeliveries: scene => {
    const { status: _, ...query } = deliveriesAsked(scene)
    return { ...ofOwn(scene), query }
  },
  resendDeliveries: scene => {
    const { random } = scene
    const one = delivery(scene)
    if (!one || random.often(0.5)) {
      const { status: _, q: __, ...failed } = deliveriesAsked(scene)
      return { ...ofOwn(scene), body: { failed } }
    }
    return { by: one.by, body: { ids: [one.at.deliveryId] } }
  },
  getDelivery: scene => delivery(scene, ({ attempts }) => scene.random.often(0.3) || attempts > 1),
  redeliver: scene => delivery(scene),
}

/** Whoever has agents, mostly. */
const ofOwn = (scene: Scene) => ({ by: own(scene)?.by ?? someone(scene) })

/** Some of the filters of the delivery log. */
function deliveriesAsked(scene: Scene): Record<string, unknown> {
  const { random, now } = scene
  const one = choose(scene, 'dlv', () => true)
  return {
    ...(random.often(0.3) && { status: random.pick(deliveryStates) }),
    ...(random.often(0.3) && { event: random.pick(agentEvents) }),
    ...(one && random.often(0.2) && { taskId: one.taskId }),
    ...(random.often(0.2) && { since: new Date(now - random.pick([0, 1_000, 3_600_000, 86_400_000])).toISOString() }),
    ...(random.often(0.3) && { q: random.often(0.8) ? random.word() : (one?.id ?? '') }),
  }
}

function delivery(scene: Scene, fits: (delivery: Known) => boolean = () => true) {
  const one = choose(scene, 'dlv', record => record.at.id !== undefined && fits(record))
  if (!one?.at.id) return undefined
  return { by: ownerOf(scene, scene.model.get(one.at.id)?.builder?.id), at: { id: one.at.id, deliveryId: one.id } }
}

const budget = (scene: Scene, fits: (record: Known) => boolean = () => true) => {
  const one = choose(scene, 'bud', fits)
  return one && { by: one.seenBy, at: { id: one.id } }
}

const caps = ({ random }: Scene) => {
  const maxPerTask = random.pick([200, 1_000, 3_000, 100_000])
  const maxDaily = maxPerTask * random.pick([1, 2, 10])
  return { maxPerTask, maxDaily, maxMonthly: random.pick([maxDaily, maxDaily * 3, 1_000_000_000_000]) }
}

/** All categories, one, or some in any order. */
function allowed({ model, random }: Scene) {
  if (random.often(0.6)) return {}
  const ids = model.all('cat').map(({ id }) => id)
  const some = new Set(Array.from({ length: random.from(1, 5) }, () => random.pick(ids)))
  return { allowedCategories: random.pick([null, ids, [...some], [...some], [...some]]) }
}

export const budgetSteps: Makers<keyof typeof budgets> = {
  listBudgets: scene => ({
    by: someone(scene),
    query: { ...(scene.random.often(0.6) && { role: scene.random.pick(budgetRoles) }), ...paging(scene) },
  }),
  createBudget: scene => {
    const agent = scene.random.recent(agents(scene, listed))
    return agent && { by: someone(scene), body: { agentId: agent.id, ...caps(scene), ...allowed(scene) } }
  },
  getBudget: scene => budget(scene),
  updateBudget: scene => {
    const about = budget(scene)
    return about && { ...about, body: { ...part(scene.random, caps(scene)), ...allowed(scene) } }
  },
  deleteBudget: scene => {
    const about = budget(scene)
    return about && { ...about, done: (_, { at }) => scene.model.forget(at?.id ?? '') }
  },
  pauseBudget: scene => budget(scene, ({ status }) => status === 'active'),
  resumeBudget: scene => budget(scene, ({ status }) => status === 'paused'),
}
