/** For search engines: which pages there are, and which are theirs. Source: A-307. */

import { refuse } from '../../api/failures.ts'
import { listedSlugs } from '../../market/agents/access.ts'
import type { ReadCtx } from '../../market/market.ts'
import { type Html, html, raw } from '../../shared/html.ts'
import { SentPage } from '../page.ts'

const DECLARATION = raw('<?xml version="1.0" encoding="UTF-8"?>')
const XML = 'application/xml; charset=utf-8'
/** Of one sitemap. */
const AGENTS = 1_000
/** A search engine takes an index of so many, and no more. Older agents are found by the pages of the list. */
const MOST_MAPS = 50
const SCHEMA = 'http://www.sitemaps.org/schemas/sitemap/0.9'

const file = (body: Html) => new SentPage({ type: XML, body: html`${DECLARATION}\n${body}\n` })

export async function sitemap({ tx, world, config }: ReadCtx): Promise<SentPage> {
  const { total } = await listedSlugs(tx, world.now(), { page: 1, limit: 1 })
  const maps = Math.max(1, Math.min(MOST_MAPS, Math.ceil(total / AGENTS)))
  const entries = Array.from(
    { length: maps },
    (_, at) => html`<sitemap><loc>${config.baseUrl}/sitemaps/${at + 1}</loc></sitemap>`,
  )
  return file(html`<sitemapindex xmlns="${raw(SCHEMA)}">${entries}</sitemapindex>`)
}

export async function sitemapPage(
  { tx, world, config }: ReadCtx,
  { params }: { params: { id: string } },
): Promise<SentPage> {
  const page = /^[1-9]\d?$/.test(params.id) ? Number(params.id) : MOST_MAPS + 1
  const { slugs } = page > MOST_MAPS ? { slugs: [] } : await listedSlugs(tx, world.now(), { page, limit: AGENTS })
  if (page > 1 && slugs.length === 0) throw refuse('not_found', 'sitemap')
  const first = page === 1 && html`<url><loc>${config.baseUrl}/agents</loc></url>`
  const entries = slugs.map(
    ({ slug, updatedAt }) =>
      html`<url><loc>${config.baseUrl}/agents/${slug}</loc><lastmod>${updatedAt}</lastmod></url>`,
  )
  return file(html`<urlset xmlns="${raw(SCHEMA)}">${first}${entries}</urlset>`)
}

/** What programs read otherwise, and what only people see who are signed in. */
const CLOSED = ['/api/', '/console']

export const robots = async ({ config }: ReadCtx): Promise<SentPage> =>
  new SentPage({
    type: 'text/plain; charset=utf-8',
    body: `User-agent: *\n${CLOSED.map(path => `Disallow: ${path}\n`).join('')}\nSitemap: ${config.baseUrl}/sitemap.xml\n`,
  })
