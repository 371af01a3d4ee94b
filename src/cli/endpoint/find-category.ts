import type { CategoryRecord } from '../../api/records.ts'
import { UsageError } from '../../settings/config.ts'

/** Finds a category by name, slug or id. Throws a UsageError that names all if there is none. */
export function categoryCalled(word: string, categories: readonly CategoryRecord[]): CategoryRecord {
  const wanted = word.toLowerCase()
  const found = categories.find(({ id, slug, name }) => [id, slug, name.toLowerCase()].includes(wanted))
  if (found) return found
  throw new UsageError(`There is no category ${word}. There are: ${categories.map(({ slug }) => slug).join(', ')}.`)
}
