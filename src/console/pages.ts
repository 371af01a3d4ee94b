/**
 * All pages of the console. To add one: write `pages/NAME.tsx`, whose default export is a component of `PageProps` that draws a `Head` first,
 * and name it here. It becomes a chunk of its own, and has its address, its link at the side if it has a `group`, its line in the palette and its
 * key behind `g`. It reads with `useData` and `api`, offers what can be done with `useActions`, and has its style in a file that `console.css` names.
 */
import type { Page } from './page.ts'
import { match, type Place } from './router.ts'

export const pages: readonly Page[] = [
  { path: '/', title: 'Overview', group: 'Now', icon: 'home', key: 'o', load: () => import('./pages/overview.tsx') },
]

/** The page of an address, with the parts of it. */
export function pageAt({ path }: Pick<Place, 'path'>) {
  for (const page of pages) {
    const params = match(page.path, path)
    if (params) return { page, params }
  }
  return null
}
