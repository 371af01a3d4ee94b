/** Agents, their samples, deliveries and tests; the public list; budgets. */
import { type agents as agentRecords, pricingModels } from '../../src/api/endpoints/agents.ts'
import { budgetRoles, type budgets } from '../../src/api/endpoints/budgets.ts'
import type { deliveries } from '../../src/api/endpoints/deliveries.ts'
import type { samples } from '../../src/api/endpoints/samples.ts'
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
const webhookUrl = ({ model, dice }: Scene) =>
  `https://agent-at-${model.next()}.example/${dice.weighted(good)}/${dice.pick(['', '?q=%C3%A4', 'ä', 'a%20b'])}`

function agentFields(scene: Scene) {
  const { model, dice } = scene
  const categories = model.all('cat').map(({ id }) => id)
  const ids = new Set(Array.from({ length: dice.from(1, 4) }, () => dice.pick(categories)))
  return {
    name: dice.text(2, 100),
    tagline: dice.text(10, 200),
    description: dice.text(50, 1_000),
    pricingModel: dice.pick(pricingModels),
    basePrice: dice.pick([200, 201, 500, 500, 500, 1_000, 999_999_999_999, 1_000_000_000_000]),
    categoryIds: [...ids],
    ...(dice.often(0.5) && { turnaroundHours: dice.pick([1, 24, 720]) }),
    ...(dice.often(0.7) && { maxRevisions: dice.pick([null, 0, 1, 2, 10]) }),
    ...(dice.often(0.5) && { tags: Array.from({ length: dice.below(5) }, () => dice.text(1, 50)) }),
  }
}

/** Some of the fields. */
function part(dice: Scene['dice'], fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(() => dice.often(0.3)))
}

const own = (scene: Scene, fits: (agent: Known) => boolean = () => true) => {
  const agent = choose(scene, 'agt', one => Boolean(one.builder) && fits(one))
  return agent && { by: ownerOf(scene, agent.builder?.id), at: { id: agent.id } }
}

/** By its id or its slug. */
const named = (scene: Scene) => {
  const agent = choose(scene, 'agt', listed)
  return agent && { at: { id: scene.dice.often(0.5) ? agent.id : (agent.slug ?? agent.id) } }
}

const reader = (scene: Scene) => (scene.dice.often(0.3) ? { by: someone(scene) } : {})

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
    const { model, dice } = scene
    const category = dice.pick(model.all('cat'))
    const byName = category && dice.pick([category.name, category.slug, category.name?.toUpperCase(), dice.word()])
    return {
      ...reader(scene),
      query: {
        ...(dice.often(0.5) && { q: dice.search() }),
        ...(dice.often(0.25) && { category: byName }),
        ...(dice.often(0.7) && { sort: dice.pick(sorts) }),
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
    body: { ...agentFields(scene), ...(scene.dice.often(0.8) && { webhookUrl: webhookUrl(scene) }) },
  }),
  getMyAgent: scene => own(scene),
  updateAgent: scene => {
    const { dice } = scene
    const more = {
      ...(dice.often(0.1) && { webhookUrl: dice.often(0.9) ? webhookUrl(scene) : null }),
      ...(dice.often(0.2) && { avatarUrl: dice.pick([null, 'https://example.com/ä.png']) }),
    }
    const about = own(scene)
    return about && { ...about, body: { ...part(dice, agentFields(scene)), ...more } }
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
      ...(scene.dice.often(0.3) && { body: { graceHours: scene.dice.from(0, 24) } }),
      done: secretTaken(scene),
    }
  },
  testConnection: scene => own(scene),
  testCallback: ({ model, dice }) => ({
    at: { id: `test_${'0'.repeat(32)}` },
    body: { action: 'accept' },
    signed: { secret: dice.pick([...model.secrets.values()]) ?? 'none', ageMs: 0 },
  }),

  listMySamples: scene => {
    const about = own(scene)
    return about && { ...about, query: paging(scene) }
  },
  addSample: scene => {
    const { dice } = scene
    const about = own(scene)
    const input = dice.often(0.5) ? { input: dice.pick([null, '', dice.text(1, 500)]) } : {}
    return about && { ...about, body: { title: dice.text(2, 200), output: dice.text(1, 2_000), ...input } }
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
  listReviews: scene => {
    const about = named(scene)
    return about && { ...reader(scene), ...about, query: paging(scene) }
  },

  listDeliveries: scene => {
    const about = own(scene)
    return about && { ...about, query: paging(scene) }
  },
  getDelivery: scene => delivery(scene, ({ attempts }) => scene.dice.often(0.3) || attempts > 1),
  redeliver: scene => delivery(scene),
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

const caps = ({ dice }: Scene) => {
  const maxPerTask = dice.pick([200, 1_000, 3_000, 100_000])
  const maxDaily = maxPerTask * dice.pick([1, 2, 10])
  return { maxPerTask, maxDaily, maxMonthly: dice.pick([maxDaily, maxDaily * 3, 1_000_000_000_000]) }
}

/** All categories, one, or some in any order. */
function allowed({ model, dice }: Scene) {
  if (dice.often(0.6)) return {}
  const ids = model.all('cat').map(({ id }) => id)
  const some = new Set(Array.from({ length: dice.from(1, 5) }, () => dice.pick(ids)))
  return { allowedCategories: dice.pick([null, ids, [...some], [...some], [...some]]) }
}

export const budgetSteps: Makers<keyof typeof budgets> = {
  listBudgets: scene => ({
    by: someone(scene),
    query: { ...(scene.dice.often(0.6) && { role: scene.dice.pick(budgetRoles) }), ...paging(scene) },
  }),
  createBudget: scene => {
    const agent = scene.dice.recent(agents(scene, listed))
    return agent && { by: someone(scene), body: { agentId: agent.id, ...caps(scene), ...allowed(scene) } }
  },
  getBudget: scene => budget(scene),
  updateBudget: scene => {
    const about = budget(scene)
    return about && { ...about, body: { ...part(scene.dice, caps(scene)), ...allowed(scene) } }
  },
  deleteBudget: scene => {
    const about = budget(scene)
    return about && { ...about, done: (_, { at }) => scene.model.forget(at?.id ?? '') }
  },
  pauseBudget: scene => budget(scene, ({ status }) => status === 'active'),
  resumeBudget: scene => budget(scene, ({ status }) => status === 'paused'),
}
