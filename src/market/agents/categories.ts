/** The categories, which administrators edit. Source. */
import { invalid, refuse } from '../../api/failures.ts'
import { category } from '../../api/records.ts'
import type { Reader } from '../../store/db.ts'
import { publicCounts } from '../../store/tables/agents/agents.ts'
import {
  allCategories,
  type CategoryRow,
  categories,
  categoryById,
  deleteUnusedCategory,
  insertCategory,
  updateCategoryRow,
} from '../../store/tables/agents/categories.ts'
import { defined, recordMaker } from '../record-maker.ts'
import type { Verb } from '../verb.ts'
import { slugBase } from './search-words.ts'

const makeCategory = recordMaker(category, categories)

const listCategories: Verb<'listCategories'> = async ({ tx, world }) => {
  const counts = await publicCounts(tx, world.now())
  return (await allCategories(tx)).map(row => makeCategory(row, { activeAgentCount: counts.get(row.id) ?? 0 }))
}

const createCategory: Verb<'createCategory'> = async ({ tx, world }, { body }) => {
  const { slug = slugBase(body.name) } = body
  if (slug === '') throw invalid({ slug: ['is required, as the name has none of a–z and 0–9'] })
  const row = { ...body, slug, id: world.id('cat') }
  await checkNames(tx, row)
  if ((await insertCategory(tx, row)) === 0) throw refuse('lost_race')
  return makeCategory(row, { activeAgentCount: 0 })
}

const updateCategory: Verb<'updateCategory'> = async ({ tx, world }, { params, body }) => {
  await tx.lock('categories', params.id)
  const before = await present(tx, params.id)
  const row = { ...before, ...defined(body) }
  await checkNames(tx, row)
  await updateCategoryRow(tx, row)
  return makeCategory(row, { activeAgentCount: (await publicCounts(tx, world.now())).get(row.id) ?? 0 })
}

const deleteCategory: Verb<'deleteCategory'> = async ({ tx }, { params }) => {
  await tx.lock('categories', params.id)
  const { id } = await present(tx, params.id)
  if ((await deleteUnusedCategory(tx, id)) === 0) throw refuse('category_in_use')
  return { id }
}

async function present(q: Reader, id: string): Promise<CategoryRow> {
  const row = await categoryById(q, id)
  if (!row) throw refuse('not_found', 'category')
  return row
}

/**
 * Refuses a name or slug that another category has. A search takes either in any case, so neither may be ambiguous. Source:
 *
 */
async function checkNames(q: Reader, row: CategoryRow): Promise<void> {
  const taken = new Set(
    (await allCategories(q)).filter(({ id }) => id !== row.id).flatMap(({ name, slug }) => [name.toLowerCase(), slug]),
  )
  for (const wanted of [row.name.toLowerCase(), row.slug])
    if (taken.has(wanted)) throw refuse('duplicate', `There is a category by the name or slug ${wanted}`)
}

export const categoryVerbs = { listCategories, createCategory, updateCategory, deleteCategory }
