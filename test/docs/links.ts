/** Links of pages: to files, and to headings in them. */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

const FENCED = /^```.*?^```$/gms
const LINK = /\]\(([^)\s]+)\)/g

/** Headings as links name them, and the anchors that a page sets by itself. Of headings that are alike, the second has a number. */
export function anchorsOf(page: string): string[] {
  const text = page.replace(FENCED, '')
  const seen = new Map<string, number>()
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => {
    const name = heading!
      .replace(/\]\([^)]*\)/g, ']')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    return count === 0 ? name : `${name}-${count}`
  })
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id!)]
}

/** Links of a page that lead to none of these files, or to no heading of one. `text` may be another than its own. */
export function deadLinksIn(page: string, files: ReadonlySet<string>, text = readFileSync(page, 'utf8')): string[] {
  const targets = [...text.replace(FENCED, '').matchAll(LINK)].map(([, target]) => target!)
  return targets.filter(target => {
    if (/^\w+:/.test(target)) return false
    const [path = '', anchor] = target.split('#') as [string, string?]
    const file = path === '' ? page : posix.join(posix.dirname(page), path)
    if (!files.has(file)) return ![...files].some(one => one.startsWith(`${file.replace(/\/$/, '')}/`))
    return anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).includes(anchor)
  })
}
