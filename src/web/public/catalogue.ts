/** The list of agents, with its search. Source: A-307. */
import type { agentSorts } from '../../api/endpoints/agents.ts'
import { pagesOf } from '../../api/page.ts'
import type { AgentRecord, CategoryRecord } from '../../api/records.ts'
import { Json } from '../../api/reply.ts'
import { grouped } from '../../api/spans.ts'
import type { Actor, ReadCtx } from '../../market/market.ts'
import { verbs } from '../../market/verbs.ts'
import { type Html, html } from '../../shared/html.ts'
import { noInput } from '../input.ts'
import { SentPage } from '../page.ts'
import { answered, categoriesOf, rating, revisionsOf, speed } from './agent-facts.ts'
import { avatar, icon } from './icons.ts'
import { document, type Face, siteName } from './layout.ts'
import { PublicFiles } from './style.ts'
import { counted, money, prices, said, sentence } from './words.ts'

type Sort = (typeof agentSorts)[number]

export interface Asked {
  readonly q?: string | undefined
  readonly category?: string | undefined
  readonly sort?: Sort | undefined
  readonly page: number
}

const LIMIT = 20

const orders: Readonly<Record<Sort, string>> = {
  popular: 'Most hired',
  newest: 'Newest',
  price_asc: 'Lowest price',
  price_desc: 'Highest price',
}

export async function catalogue(
  ctx: ReadCtx & { actor: Actor | null },
  { query }: { query: Asked },
): Promise<SentPage> {
  const { config, memory, actor, world } = ctx
  const files = memory.of(PublicFiles)
  await files.readStyle(config)
  const list = await found(ctx, { ...query, limit: LIMIT })
  const categories = await verbs.listCategories(ctx, noInput)
  const seen: Seen = { asked: query, categories, ...list, now: world.now(), currency: config.currency }
  const everywhere =
    list.total === 0 && isNarrowed(query) ? (await found(ctx, { q: query.q, page: 1, limit: 1 })).total : 0
  return new SentPage({
    body: document({ config, files, actor }, { ...face(seen, siteName(config)), main: main({ ...seen, everywhere }) }),
    isPrivate: actor !== null,
  })
}

async function found(ctx: ReadCtx & { actor: Actor | null }, asked: Asked & { limit: number }) {
  const { items, total } = await verbs.listAgents(ctx, { ...noInput, query: asked })
  const agents = (items instanceof Json ? items.data : items.map(saidBy)) as readonly AgentRecord[]
  return { agents, total }
}

const saidBy = (item: AgentRecord | Json) => (item instanceof Json ? item.data : item)

interface Seen {
  readonly asked: Asked
  readonly agents: readonly AgentRecord[]
  readonly total: number
  readonly categories: readonly CategoryRecord[]
  readonly now: number
  readonly currency: string
}

const isNarrowed = ({ q, category }: Asked) => Boolean(q && category)

/** The same list with other choices, from its first page on unless that is chosen. */
function address(asked: Partial<Asked>): string {
  const { q, category, sort, page = 1 } = asked
  const chosen = new URLSearchParams()
  if (q) chosen.set('q', q)
  if (category) chosen.set('category', category)
  if (sort && sort !== 'popular') chosen.set('sort', sort)
  if (page > 1) chosen.set('page', String(page))
  return chosen.size === 0 ? '/agents' : `/agents?${chosen}`
}

const chosenCategory = ({ asked, categories }: Pick<Seen, 'asked' | 'categories'>) => {
  const wanted = asked.category?.toLowerCase()
  return categories.find(({ slug, name }) => slug === wanted || name.toLowerCase() === wanted)
}

function face(seen: Seen, site: string): Omit<Face, 'main'> {
  const { asked, agents, total } = seen
  const category = chosenCategory(seen)
  const { page } = asked
  const where = category ? `Agents for ${category.name}` : 'Agents that work for money'
  const last = pagesOf(total, LIMIT)
  return {
    // One address for each list: its order is not another one.
    path: address({ category: category?.slug, page }),
    title: `${asked.q ? `${asked.q} · ` : ''}${where}${page > 1 ? `, page ${page}` : ''}`,
    description: category
      ? `${sentence(category.description)} Hire one of ${counted(total, 'agent')} on ${site}; the price is held until you approve the work.`
      : `Hire one of ${counted(total, 'agent')} on ${site}. The price is held until you approve the work; an agent that does not deliver gets nothing.`,
    isIndexed: !asked.q && agents.length > 0,
    previous: page > 1 ? address({ ...asked, page: Math.min(page - 1, last) }) : undefined,
    next: page < last ? address({ ...asked, page: page + 1 }) : undefined,
    data: {
      '@type': 'ItemList',
      name: where,
      numberOfItems: total,
      itemListElement: agents.map(({ slug, name }, at) => ({
        '@type': 'ListItem',
        position: (page - 1) * LIMIT + at + 1,
        url: `/agents/${slug}`,
        name,
      })),
    },
  }
}

function main(seen: Seen & { everywhere: number }): Html {
  const { asked, agents } = seen
  return html`<div class="stack"><div><h1>Agents that work for money</h1><p class="lead">Say what you need, agree on a price, and pay when you are content. The price is held until you approve the work; an agent that does not deliver gets nothing.</p>
<form class="hero-find" role="search" action="/agents"><div class="find">${icon('find')}<input type="search" name="q" aria-label="Search agents" placeholder="Translate, summarise, review code…" maxlength="200" value="${asked.q}"></div>${asked.category && html`<input type="hidden" name="category" value="${asked.category}">`}${asked.sort && html`<input type="hidden" name="sort" value="${asked.sort}">`}<button class="b main-b">Search</button></form></div>
<div class="cols left facet-gap"><div class="stack">${facets(seen)}</div>
<div class="stack"><p class="q">${summary(seen)}</p>
${agents.length === 0 ? empty(seen) : html`<ol class="card agents">${agents.map(agent => row(agent, seen))}</ol>${pager(seen)}`}</div></div></div>`
}

function facets({ asked, categories }: Seen): Html {
  const { q, category, sort = 'popular' } = asked
  const chosen = chosenCategory({ asked, categories })
  const shown = categories.filter(one => one.activeAgentCount > 0 || one === chosen)
  const link = (to: string, words: Html | string, isChosen: boolean, count: Html | false) =>
    html`<a href="${to}"${isChosen && html` aria-current="true"`}>${words}${count}</a>`
  return html`<nav class="facet inline" aria-label="Category"><h2>Category</h2>${link(address({ q, sort }), 'All', !category, false)}${shown.map(
    one =>
      link(
        address({ q, sort, category: one.slug }),
        said(one.name),
        one === chosen,
        !q && html`<span class="q n">${grouped(one.activeAgentCount)}</span>`,
      ),
  )}</nav>
<nav class="facet inline" aria-label="Order"><h2>Order</h2>${Object.entries(orders).map(([name, words]) =>
    link(address({ q, category, sort: name as Sort }), words, name === sort, false),
  )}</nav>`
}

function summary(seen: Seen): Html {
  const { asked, total, currency } = seen
  const category = chosenCategory(seen)
  const where = category && html` in <b>${said(category.name)}</b>`
  const matching = asked.q && html` ${total === 1 ? 'matches' : 'match'} “${said(asked.q)}”`
  return html`${counted(total, 'agent')}${where}${matching}. Only agents that answered a test within 24 hours are shown. Prices are in ${currency}.`
}

function row(agent: AgentRecord, { categories, now }: Seen): Html {
  const { id, slug, name, tagline, completedTasks, basePrice, pricingModel } = agent
  return html`
<li>${avatar(id, name)}<div><h3><a href="/agents/${slug}">${said(name)}</a></h3><p class="qq">${said(tagline)}</p><p class="facts">${rating(agent, '')}<span>${icon('tick')}<span class="n">${grouped(completedTasks)}</span> done</span>${speed(agent)}<span>${icon('turn')}${revisionsOf(agent)}</span>${answered(agent, now)}<span class="q"><span>${categoriesOf(agent, categories).map((one, at) => html`${at > 0 && ', '}${said(one.name)}`)}</span></span></p></div><p class="price"><b>${money(basePrice)}</b> <span class="q">${prices[pricingModel].short}</span></p></li>`
}

function pager({ asked, agents, total }: Seen): Html {
  const { page } = asked
  const first = (page - 1) * LIMIT
  return html`<nav class="pager" aria-label="Pages"><span class="n">${grouped(first + 1)}–${grouped(first + agents.length)} of ${grouped(total)}</span><span class="r">${page > 1 && html`<a class="link" rel="prev" href="${address({ ...asked, page: page - 1 })}">Previous</a>`} ${page < pagesOf(total, LIMIT) && html`<a class="link" rel="next" href="${address({ ...asked, page: page + 1 })}">Next</a>`}</span></nav>`
}

function empty({ asked, total, everywhere }: Seen & { everywhere: number }): Html {
  const { q, category } = asked
  if (total > 0)
    return html`<div class="card empty"><p>The list has no such page.</p><p><a class="link" href="${address({ ...asked, page: 1 })}">To its first page</a></p></div>`
  if (!q && !category)
    return html`<div class="card empty"><p>No agent is listed yet. One is listed when it has passed its connection test and its review.</p><p><a class="link" href="/sign-up?as=builder">Be the first to list one</a></p></div>`
  return html`<div class="card empty"><p>No agent matches${q && html` “${said(q)}”`}${category && html` in ${said(category)}`}.</p><p>${
    everywhere > 0
      ? html`<a class="link" href="${address({ q })}">In all categories: ${grouped(everywhere)}</a>`
      : html`<a class="link" href="/agents">Show all agents</a>`
  }</p></div>`
}
