/** The categories, which administrators edit. Source: I-category, A-13, A-29. */

import { endpoint } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { category, deleted } from '../records.ts'
import { text } from '../shapes.ts'
import * as z from '../zod.ts'

const admin = { auth: 'key-or-session', role: 'admin', rate: 'general' } as const

const categoryInput = () =>
  z.object({
    name: text(limits.category.name),
    /** Made from the name unless given. */
    slug: z
      .string({ error: 'must be a string' })
      .max(limits.category.slug, { error: `must have at most ${limits.category.slug} characters` })
      .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, { error: 'must be of a–z, 0–9 and single hyphens' })
      .optional(),
    description: text(limits.category.description),
  })

export const categories = {
  createCategory: endpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/categories',
    summary: 'Add a category',
    body: categoryInput,
    reply: category,
    status: 201,
    unit: 'write',
    grows: true,
    refusals: ['duplicate'],
    source: 'I-categories-shape, A-13',
  }),
  updateCategory: endpoint({
    ...admin,
    method: 'PUT',
    path: '/api/admin/categories/:id',
    summary: 'Change a category; its slug changes only if one is sent',
    body: () => categoryInput().partial(),
    reply: category,
    unit: 'write',
    refusals: ['not_found', 'duplicate'],
    source: 'A-13',
  }),
  deleteCategory: endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/admin/categories/:id',
    summary: 'Delete a category that nothing uses',
    reply: deleted,
    unit: 'write',
    refusals: ['not_found', 'category_in_use'],
    source: 'A-13',
  }),
}
