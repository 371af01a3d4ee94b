/** Budget authorizations: what the owner of a wallet lets an agent spend. Source: I-budget-input, A-36. */
import { type FieldErrors, invalid, refuse } from '../../api/failures.ts'
import { type BudgetRecord, budgetAuthorization } from '../../api/money-records.ts'
import { rowsOf } from '../../api/page.ts'
import type { Reader } from '../../store/db.ts'
import { allCategories } from '../../store/tables/agents/categories.ts'
import {
  allowedCategoriesOf,
  type BudgetRow,
  budgetAuthorizations,
  budgetById,
  budgetsOf,
  countActive,
  countBudgetsOf,
  insertBudget,
  deleteBudget as removeBudget,
  setAllowedCategories,
  setBudgetStatus,
  updateBudget as writeBudget,
} from '../../store/tables/money/budgets.ts'
import { unfinished } from '../accounts/accounts.ts'
import { presentAgent } from '../agents/access.ts'
import { builderStanding } from '../agents/agent-record.ts'
import { isPublic } from '../agents/visibility.ts'
import type { Acting, Ctx, ReadCtx } from '../market.ts'
import { recordMaker } from '../record-maker.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { sinceOf } from './spending.ts'

const makeBudget = recordMaker(budgetAuthorization, budgetAuthorizations)

const budgetRecord = (row: BudgetRow, allowedCategories: string[] | undefined): BudgetRecord =>
  makeBudget(row, {
    agent: { id: row.agentId, slug: row.agentSlug, name: row.agentName },
    allowedCategories: allowedCategories ?? null,
    spentToday: row.spentToday,
    spentThisMonth: row.spentThisMonth,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  })

async function recordsOf(q: Reader, rows: readonly BudgetRow[]): Promise<BudgetRecord[]> {
  const categories = await allowedCategoriesOf(
    q,
    rows.map(row => row.id),
  )
  return rows.map(row => budgetRecord(row, categories.get(row.id)))
}

const found = ({ tx, world }: ReadCtx, id: string) => budgetById(tx, id, sinceOf(world.now()))

const recordOf = async (ctx: ReadCtx, id: string) => (await recordsOf(ctx.tx, [(await found(ctx, id))!]))[0]!

const listBudgets: Verb<'listBudgets'> = async ({ tx, world, actor }, { query }) => {
  const { role = 'owner', limit, page } = query
  const { id } = actor.user
  const [rows, total] = await Promise.all([
    budgetsOf(tx, role, id, sinceOf(world.now()), ...rowsOf({ page, limit })),
    countBudgetsOf(tx, role, id),
  ])
  return { items: await recordsOf(tx, rows), total }
}

const createBudget: Verb<'createBudget'> = async (ctx, { body }) => {
  const { tx, world, actor } = ctx
  await checkAgent(ctx, body.agentId)
  checkCaps(body)
  await checkCategories(tx, body.allowedCategories)
  const { agentId, maxPerTask, maxDaily, maxMonthly, allowedCategories = null } = body
  const id = world.id('bud', actor.user.id)
  const caps = { maxPerTask, maxDaily, maxMonthly }
  const inserted = await insertBudget(tx, {
    ...caps,
    id,
    agentId,
    ownerId: actor.user.id,
    status: 'active',
    createdAt: world.now(),
  })
  if (inserted === 0) throw refuse('duplicate', 'You have authorized this agent already: change that authorization')
  await setAllowedCategories(tx, id, allowedCategories)
  return recordOf(ctx, id)
}

/** Refuses with 404 unless the agent is public or the caller's own. */
async function checkAgent({ tx, world, actor }: Acting<Ctx>, id: string): Promise<void> {
  const agent = await presentAgent(tx, id)
  const hidden = !isPublic(agent, builderStanding(agent), world.now())
  if (agent.builderId !== actor.user.id && hidden) throw refuse('not_found', 'agent')
}

type Caps = Pick<BudgetRow, 'maxPerTask' | 'maxDaily' | 'maxMonthly'>

/** maxPerTask ≤ maxDaily ≤ maxMonthly. An error is reported for the smaller of two fields. */
function checkCaps({ maxPerTask, maxDaily, maxMonthly }: Caps): void {
  const errors: FieldErrors = {}
  if (maxPerTask > maxDaily) errors.maxPerTask = [`must not be above maxDaily, which is ${maxDaily}`]
  if (maxDaily > maxMonthly) errors.maxDaily = [`must not be above maxMonthly, which is ${maxMonthly}`]
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

async function checkCategories(q: Reader, ids: readonly string[] | null | undefined): Promise<void> {
  if (!ids) return
  const known = new Set((await allCategories(q)).map(row => row.id))
  const unknown = ids.filter(id => !known.has(id))
  if (unknown.length > 0) throw invalid({ allowedCategories: unknown.map(id => `names an unknown category: ${id}`) })
}

/** The builder of the authorized agent may see it too, here and in their list. */
const getBudget: Verb<'getBudget'> = async (ctx, { params }) => {
  const row = await found(ctx, params.id)
  if (!row) throw refuse('not_found', 'budget authorization')
  const { id } = ctx.actor.user
  if (row.ownerId !== id && row.builderId !== id) throw refuse('not_yours', 'budget authorization')
  return recordOf(ctx, row.id)
}

/** Returns the owner's authorization. It is locked until the transaction ends, so that nothing is spent meanwhile. */
async function lockOwn(ctx: Acting<Ctx>, id: string): Promise<BudgetRow> {
  await ctx.tx.lock('budget_authorizations', id)
  const row = await found(ctx, id)
  if (!row) throw refuse('not_found', 'budget authorization')
  if (row.ownerId !== ctx.actor.user.id) throw refuse('not_yours', 'budget authorization')
  return row
}

const updateBudget: Verb<'updateBudget'> = async (ctx, { params, body }) => {
  const { tx, world } = ctx
  const row = await lockOwn(ctx, params.id)
  if (body.agentId !== undefined && body.agentId !== row.agentId) throw invalid({ agentId: ['cannot be changed'] })
  const caps = {
    maxPerTask: body.maxPerTask ?? row.maxPerTask,
    maxDaily: body.maxDaily ?? row.maxDaily,
    maxMonthly: body.maxMonthly ?? row.maxMonthly,
  }
  checkCaps(caps)
  await checkCategories(tx, body.allowedCategories)
  await writeBudget(tx, { ...caps, id: row.id, updatedAt: world.now() })
  if (body.allowedCategories !== undefined) await setAllowedCategories(tx, row.id, body.allowedCategories)
  return recordOf(ctx, row.id)
}

const deleteBudget: Verb<'deleteBudget'> = async (ctx, { params }) => {
  const { id } = await lockOwn(ctx, params.id)
  const active = await countActive(ctx.tx, id)
  if (active > 0) throw refuse('open_work', unfinished(active))
  await removeBudget(ctx.tx, id)
  return { id }
}

async function setStatus(ctx: Acting<Ctx>, id: string, status: BudgetRow['status']): Promise<BudgetRecord> {
  const row = await lockOwn(ctx, id)
  if ((await setBudgetStatus(ctx.tx, row.id, status, ctx.world.now())) === 0) throw refuse('budget_out_of_turn', status)
  return recordOf(ctx, row.id)
}

const pauseBudget: Verb<'pauseBudget'> = (ctx, { params }) => setStatus(ctx, params.id, 'paused')
const resumeBudget: Verb<'resumeBudget'> = (ctx, { params }) => setStatus(ctx, params.id, 'active')

export const budgetVerbs = {
  listBudgets,
  createBudget,
  getBudget,
  updateBudget,
  deleteBudget,
  pauseBudget,
  resumeBudget,
}
