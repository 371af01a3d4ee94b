/** The page of one agent: what it does, what it has done, what its buyers say, and its price. Source: A-307. */
import type * as z from 'zod'
import type { endpoints } from '../../api/endpoints/index.ts'
import { Refusal } from '../../api/failures.ts'
import { limits } from '../../api/limits.ts'
import { pagesOf } from '../../api/page.ts'
import type { AgentRecord, AgentReviewRecord, CategoryRecord, OwnAgentRecord, SampleRecord } from '../../api/records.ts'
import { grouped } from '../../api/spans.ts'
import { isGone } from '../../market/agents/access.ts'
import type { Actor, ReadCtx } from '../../market/market.ts'
import { verbs } from '../../market/verbs.ts'
import { type Html, html } from '../../shared/html.ts'
import { inputOfId, noInput } from '../input.ts'
import { SentPage } from '../page.ts'
import { answered, categoriesOf, rating, revisionsOf } from './agent-facts.ts'
import { avatar, icon, stars } from './icons.ts'
import { document, type Face, note, refusedPage } from './layout.ts'
import { PublicFiles } from './style.ts'
import { ago, asTyped, counted, inHoursOrDays, money, paragraphs, plain, prices, said } from './words.ts'

export interface Asked {
  /** Which page of its reviews. */
  readonly reviews: number
  /** A sample to show whole, and no other. */
  readonly sample?: string | undefined
}

const REVIEWS = 10
/** Of a text of a sample among others, in characters. */
const SHOWN = 4_000

type Ctx = ReadCtx & { actor: Actor | null }

export async function agentPage(
  ctx: Ctx,
  { params, query }: { params: { id: string }; query: Asked },
): Promise<SentPage> {
  const { config, memory, actor } = ctx
  const files = memory.of(PublicFiles)
  await files.readStyle(config)
  const agent = await agentOr(ctx, params.id)
  if (agent instanceof Refusal)
    return new SentPage({ status: agent.status, body: refusedPage({ config, files, actor }, agent) })
  if (agent.slug !== params.id) return new SentPage({ status: 301, location: `/agents/${agent.slug}` })
  const of = inputOfId(agent.id)
  const samples = await verbs.listSamples(ctx, { ...of, query: { page: 1, limit: limits.agent.samples } })
  const reviews = await verbs.listReviews(ctx, { ...of, query: { page: query.reviews, limit: REVIEWS } })
  const seen: Seen = {
    agent,
    asked: query,
    samples: samples.items,
    reviews: reviews.items,
    ratings: await verbs.getRatings(ctx, of),
    total: reviews.total,
    categories: await verbs.listCategories(ctx, noInput),
    now: ctx.world.now(),
    currency: config.currency,
    baseUrl: config.baseUrl,
  }
  const body = document({ config, files, actor }, { ...face(seen), main: main(seen) })
  return new SentPage({ body, isPrivate: actor !== null })
}

/** The agent, or why it is not to be seen. Whether one is hidden for now or never was there, only its builder is told. */
async function agentOr(ctx: Ctx, id: string): Promise<AgentRecord | OwnAgentRecord | Refusal> {
  try {
    return await verbs.getAgent(ctx, inputOfId(id))
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'not_found') throw error
    return (await isGone(ctx.tx, id)) ? new Refusal('not_found', 410, 'This agent was here and is gone') : error
  }
}

type Ratings = z.infer<typeof endpoints.getRatings.reply>

interface Seen {
  readonly agent: AgentRecord | OwnAgentRecord
  readonly asked: Asked
  readonly samples: readonly SampleRecord[]
  readonly reviews: readonly AgentReviewRecord[]
  readonly total: number
  readonly ratings: Ratings
  readonly categories: readonly CategoryRecord[]
  readonly now: number
  readonly currency: string
  readonly baseUrl: string
}

function face({ agent, asked, baseUrl, currency }: Seen): Omit<Face, 'main'> {
  const { slug, name, tagline, description, basePrice, rating, builder } = agent
  const path = `/agents/${slug}`
  return {
    path,
    title: name,
    description: `${tagline}. ${description}`,
    // Reviews behind the first ones and whole samples are parts of this page.
    isIndexed: !isHidden(agent) && asked.reviews === 1 && asked.sample === undefined,
    data: {
      '@type': 'Product',
      name: plain(name),
      description: plain(tagline),
      url: baseUrl + path,
      brand: { '@type': 'Brand', name: plain(builder.name) },
      offers: {
        '@type': 'Offer',
        price: (basePrice / 100).toFixed(2),
        priceCurrency: currency,
        availability: 'https://schema.org/InStock',
        url: baseUrl + path,
      },
      ...(rating.average !== null && {
        aggregateRating: {
          '@type': 'AggregateRating',
          ratingValue: rating.average,
          reviewCount: rating.count,
          bestRating: 5,
          worstRating: 1,
        },
      }),
    },
  }
}

const isHidden = (agent: AgentRecord | OwnAgentRecord) => 'visible' in agent && !agent.visible

function main(seen: Seen): Html {
  const { agent, categories, now } = seen
  const { id, slug, name, tagline, description, completedTasks, builder, basePrice, pricingModel, turnaroundHours } =
    agent
  const [first] = categoriesOf(agent, categories)
  const crumb = first && html` ${icon('next')} <a href="/agents?category=${first.slug}">${said(first.name)}</a>`
  return html`<p class="crumb"><a href="/agents">Agents</a>${crumb}</p>
${'visible' in agent && !agent.visible && note(html`Only you see this page. ${agent.hiddenReason}.`)}
<div class="cols"><div class="stack s5"><header class="row top1">${avatar(id, name)}<div><h1>${said(name)}</h1><p class="lead">${said(tagline)}</p><p class="facts sub">${rating(agent, html`${counted(agent.rating.count, 'review')}`)}<span>${icon('tick')}<span class="n">${grouped(completedTasks)}</span> ${completedTasks === 1 ? 'task' : 'tasks'} done</span>${answered(agent, now)}<span>by <b>${said(builder.name)}</b></span></p></div></header>
<div class="card in1 only-narrow"><span class="bigp">${money(basePrice)}</span> <span class="q">${prices[pricingModel].short}, within ${inHoursOrDays(turnaroundHours)}</span><a class="b main-b r" href="/agents/${slug}/hire">Hire</a></div>
<section class="prose" aria-label="What it does">${paragraphs(description)}</section>
${samplesPart(seen)}
${reviewsPart(seen)}</div>
${priceBox(seen)}</div>`
}

function samplesPart({ agent, samples, asked }: Seen): Html | false {
  const shown = asked.sample === undefined ? samples : samples.filter(({ id }) => id === asked.sample)
  if (shown.length === 0) return false
  const whole = asked.sample !== undefined
  return html`<section class="stack r8" aria-labelledby="h-s"><h2 id="h-s">${whole ? 'A sample' : 'Samples'}</h2>${shown.map(one => sample(one, agent.slug, whole))}${whole && html`<p><a class="link" href="/agents/${agent.slug}">Back to the agent</a></p>`}</section>`
}

function sample({ id, title, input, output }: SampleRecord, slug: string, whole: boolean): Html {
  const isCut = !whole && Math.max(input?.length ?? 0, output.length) > SHOWN
  const text = (all: string) => asTyped(whole || all.length <= SHOWN ? all : `${all.slice(0, SHOWN).toWellFormed()}…`)
  return html`<article class="card"><header><h3>${said(title)}</h3>${isCut && html`<a class="link r" href="/agents/${slug}?sample=${id}#h-s">All of it</a>`}</header><div class="sample">${input !== null && html`<div><h4>What was asked</h4>${text(input)}</div>`}<div><h4>What came</h4>${text(output)}</div></div></article>`
}

function reviewsPart(seen: Seen): Html {
  const { agent, reviews, total, asked, now } = seen
  if (total === 0)
    return html`<section class="stack r8" aria-labelledby="h-r"><h2 id="h-r">Reviews</h2><p class="q">Nobody has reviewed it yet.</p></section>`
  const to = (page: number) => `/agents/${agent.slug}?reviews=${page}#h-r`
  const pages = pagesOf(total, REVIEWS)
  const items = reviews.map(
    ({ rating, comment, createdAt }) =>
      html`<li class="stack r4"><p class="row">${stars(rating)}<span class="q">${ago(createdAt, now)}, a buyer who paid</span></p>${comment && html`<div class="prose">${paragraphs(comment)}</div>`}</li>`,
  )
  return html`<section class="stack r8" aria-labelledby="h-r"><h2 id="h-r">Reviews</h2><div class="card"><div class="in cols rev"><ol class="stack s5">${items}</ol><div class="stack"><div><span class="fig n">${agent.rating.average?.toFixed(1)}</span> <span class="q">of 5, ${counted(total, 'review')}</span></div>${distribution(seen.ratings)}</div></div><footer><span>Only buyers who paid can review.</span><span class="r">${asked.reviews > 1 && html`<a class="link" rel="prev" href="${to(asked.reviews - 1)}">Newer</a>`} ${asked.reviews < pages && html`<a class="link" rel="next" href="${to(asked.reviews + 1)}">Older</a>`}</span></footer></div></section>`
}

/** How many gave each number of stars. The lengths are attributes of the drawing: a policy that allows no styles allows them. */
function distribution({ count, stars }: Ratings): Html {
  const rows = ([5, 4, 3, 2, 1] as const).map(
    star =>
      html`<span class="n">${star}<span class="vh"> stars:</span></span><svg aria-hidden="true"><rect class="bg" width="100%" height="8" rx="4"/><rect class="fg" width="${Math.round((stars[star] / count) * 100)}%" height="8" rx="4"/></svg><span class="q n">${grouped(stars[star])}</span>`,
  )
  return html`<div class="hist">${rows}</div>`
}

function priceBox({ agent, now, currency }: Seen): Html {
  const { slug, name, basePrice, pricingModel, turnaroundHours, lastCheckPassedAt } = agent
  return html`<aside class="card hire" aria-labelledby="h-h"><div class="in stack"><h2 class="vh" id="h-h">Price</h2><p><span class="bigp">${money(basePrice)}</span> <span class="q">${currency}, ${prices[pricingModel].long}</span></p><dl class="dl"><dt>Delivers within</dt><dd>${inHoursOrDays(turnaroundHours)}</dd><dt>Revisions</dt><dd>${revisionsOf(agent)}</dd>${lastCheckPassedAt && html`<dt>Last tested</dt><dd>${ago(lastCheckPassedAt, now)}, passed</dd>`}</dl><a class="b main-b w big" href="/agents/${slug}/hire"><span class="cut">Hire ${said(name)}</span></a><p class="q small">The price is held when you send the task. It is paid when you approve, and comes back if the agent rejects or you cancel before it accepts.</p></div><footer><a class="link" href="/docs#createTask">For agents: hire by API</a></footer></aside>`
}
