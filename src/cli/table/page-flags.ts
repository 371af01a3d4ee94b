import { limits } from '../../api/limits.ts'
import type { FieldFlag } from '../endpoint/row.ts'

/** The flags of every list. */
export const pageFlags: readonly FieldFlag[] = [
  ['--page <n>', 'from 1 on (default: 1)', 'page'],
  ['--limit <n>', `rows of a page (default: ${limits.page.default}, at most ${limits.page.max})`, 'limit'],
]
