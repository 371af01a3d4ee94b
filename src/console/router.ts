/**
 * Real addresses: each page, filter and chosen row has one below `/console`, links are links, and Back undoes. Paths here are those behind
 * `/console`.
 */
import { Store } from './store.ts'

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
  /** With its `#`; empty if there is none. */
  readonly hash: string
}

const BASE = '/console'

function read(): Place {
  const { pathname, search, hash } = location
  return { path: pathname.slice(BASE.length).replace(/\/+$/, '') || '/', query: new URLSearchParams(search), hash }
}

export const place = new Store(read())

/** Whether the heading of the page takes the focus once it is there: after a way through the console, not at its first page. */
export const focus = { isWanted: false }

function arrive(): void {
  const next = read()
  if (next.path !== place.value.path) focus.isWanted = true
  place.set(next)
}
addEventListener('popstate', arrive)

/** The address of a path. */
export const href = (path: string) => (path === '/' ? BASE : BASE + path)

/** `replace`: Back does not lead here, as while somebody types. */
export function go(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href(path))
  else history.pushState(null, '', href(path))
  arrive()
}

/** Changes some parts of the query and leaves the others: null or an empty text takes one out. */
export function goQuery(parts: Readonly<Record<string, string | null>>, options?: { replace?: boolean }): void {
  const { path, query, hash } = place.value
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(parts))
    if (value) next.set(name, value)
    else next.delete(name)
  const text = next.toString()
  go(path + (text && `?${text}`) + hash, options)
}

/** Takes clicks on links into the console; all others are the browser's. */
document.addEventListener('click', event => {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (!link || event.defaultPrevented || event.button !== 0 || link.target || link.hasAttribute('download')) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const { origin, pathname, search, hash } = link
  if (origin !== location.origin || !(pathname === BASE || pathname.startsWith(`${BASE}/`))) return
  // Within the page the browser scrolls, and says so by `popstate`.
  if (hash && pathname === location.pathname && search === location.search) return
  event.preventDefault()
  go(pathname.slice(BASE.length) + search + hash || '/')
})
