/** Hiring an agent by a form: one request makes the task, sends it and holds its price. Source: I-escrow, A-307. */
import { createHash } from 'node:crypto'
import { endpoints } from '../../api/endpoints/index.ts'
import { invalid, Refusal, refuse } from '../../api/failures.ts'
import { durations, limits } from '../../api/limits.ts'
import type { AgentRecord, TaskRecord } from '../../api/records.ts'
import { inHours } from '../../api/spans.ts'
import type { Actor } from '../../market/market.ts'
import { refuseUnlessMay, refuseWhenFull } from '../../market/permission.ts'
import { claim, keep } from '../../market/requests/idempotency.ts'
import { verbs } from '../../market/verbs.ts'
import type { Config } from '../../settings/config.ts'
import { type Html, html } from '../../shared/html.ts'
import { bodyOf, inputOfId, noInput } from '../input.ts'
import { SentPage, seeOther } from '../page.ts'
import { newRequestId } from '../response.ts'
import { answered, rating, revisionsOf } from './agent-facts.ts'
import { type Form, faultsOf, field, type Typed } from './forms.ts'
import { avatar, icon } from './icons.ts'
import { document, note } from './layout.ts'
import type { FormCtx, PageCtx } from './sign-in.ts'
import { PublicFiles } from './style.ts'
import { centsOf, inHoursOrDays, money, said } from './words.ts'

interface At {
  readonly params: { readonly id: string }
}

/** The form, or what was sent with it. */
export async function hirePage(
  ctx: PageCtx,
  { params, query }: At & { query: { task?: string | undefined } },
): Promise<SentPage> {
  const { actor } = ctx
  if (!actor) return toSignIn(params.id)
  if (query.task !== undefined) return sentPage({ ...ctx, actor }, query.task)
  const agent = await agentOf(ctx, params.id)
  return shown({ ...ctx, actor }, agent, {
    typed: { price: (agent.basePrice / 100).toFixed(2), once: newRequestId() },
    refusal: null,
  })
}

export async function hire(ctx: FormCtx, { params, body: typed }: At & { body: Typed }): Promise<SentPage> {
  const { db, actor } = ctx
  try {
    // A session that has ended meanwhile takes nothing with it.
    if (actor?.via !== 'session') throw refuse('not_authenticated')
    const id = await send({ ...ctx, actor }, params.id, typed)
    return seeOther(`/agents/${params.id}/hire?task=${id}`)
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || refusal.status >= 500) throw refusal
    return db.read(async tx => shown({ ...ctx, tx }, await agentOf({ ...ctx, tx }, params.id), { typed, refusal }))
  }
}

const toSignIn = (slug: string) => seeOther(`/sign-in?to=${encodeURIComponent(`/agents/${slug}/hire`)}`)

const agentOf = (ctx: Pick<PageCtx, 'tx'> & PageCtx, id: string): Promise<AgentRecord> =>
  verbs.getAgent(ctx, inputOfId(id))

/** Returns the id of the task. The same form sent twice is one task; sent with other words, it is another. */
async function send(ctx: FormCtx & { actor: Actor }, slug: string, typed: Typed): Promise<string> {
  const { db, world, actor } = ctx
  for (const record of [endpoints.createTask, endpoints.submitTask]) refuseUnlessMay(record, actor.user)
  refuseWhenFull(db)
  const { title, description, requirements, price = '', once = '' } = typed
  const agreedPrice = centsOf(price)
  const { min, max } = limits.price
  if (agreedPrice === null || agreedPrice < min || agreedPrice > max)
    throw invalid({ agreedPrice: [`must be an amount from ${money(min)} on, like 12.00`] })
  const asked = [title, description, requirements, agreedPrice]
  const fingerprint = createHash('sha256').update(JSON.stringify(asked)).digest('hex')
  const request = {
    userId: actor.user.id,
    method: 'POST',
    path: `/agents/${slug}/hire`,
    key: `${once.slice(0, 100)} ${fingerprint}`,
    fingerprint,
    secret: false,
  }
  return db.write(async tx => {
    const inside = { ...ctx, tx, prefetched: null }
    const { id: agentId } = await agentOf(inside, slug)
    const body = bodyOf(endpoints.createTask.body, {
      agentId,
      title,
      description,
      agreedPrice,
      ...(requirements && { requirements }),
    })
    const earlier = await claim(tx, world, request)
    if (earlier) return earlier.text
    const { id } = await verbs.createTask(inside, { ...noInput, body })
    await verbs.submitTask(inside, inputOfId(id))
    await keep(tx, ctx, request, { status: 201, text: id })
    return id
  })
}

async function around({ config, memory, actor }: PageCtx) {
  const files = memory.of(PublicFiles)
  await files.readStyle(config)
  return { config, files, actor }
}

async function shown(ctx: PageCtx, agent: AgentRecord, form: Form): Promise<SentPage> {
  const { actor, config } = ctx
  const balance = actor && (await verbs.getWallet({ ...ctx, actor }, noInput)).wallet.balance
  const name = said(agent.name)
  const main = html`<p class="crumb"><a href="/agents">Agents</a> ${icon('next')} <a href="/agents/${agent.slug}">${name}</a></p>
<h1>Hire ${name}</h1>
<div class="cols facet-gap">${taskForm(config, agent, form, balance)}
<div class="stack">${moneyPart(agent, config.currency)}<section class="card" aria-label="The agent"><div class="in row">${avatar(agent.id, agent.name)}<div><b>${name}</b><br>${rating(agent, '')}</div><span class="r">${answered(agent, ctx.world.now())}</span></div></section></div></div>`
  const face = {
    path: `/agents/${agent.slug}/hire`,
    title: `Hire ${agent.name}`,
    description: agent.tagline,
    isIndexed: false,
  }
  return new SentPage({
    status: form.refusal?.status,
    body: document(await around(ctx), { ...face, main }),
    isPrivate: true,
  })
}

const FIELDS = {
  title: ['title', 'Title'],
  description: ['description', 'What is to be done'],
  requirements: ['requirements', 'Requirements'],
  agreedPrice: ['price', 'Price'],
} as const

/** `balance`: null if nobody is signed in any more. */
function taskForm({ console, currency }: Config, agent: AgentRecord, form: Form, balance: number | null): Html {
  const { title, description, requirements } = limits.task
  const faults = form.refusal && (balance === null ? SIGNED_OUT : faultsOf(form, FIELDS))
  // In a tab of its own, so that what was typed stays here.
  const fill =
    console === 'on' &&
    html` <a class="link" href="/console/wallet" target="_blank" rel="noopener">Put money in</a>, in another tab.`
  const help = `Its price is ${money(agent.basePrice)} ${currency}. You may offer ${money(limits.price.min)} or more; it may reject.`
  return html`<form class="card" method="post" action="/agents/${agent.slug}/hire" aria-label="The task"><div class="in stack s5">${faults && html`<p class="lead2">The task was not sent.</p>${faults}`}${field(form, { name: 'title', label: FIELDS.title[1], length: title })}${field(form, { name: 'description', label: FIELDS.description[1], type: 'textarea', length: description, help: 'Say what it is for, and what must stay.' })}${field(form, { name: 'requirements', label: FIELDS.requirements[1], type: 'textarea', length: requirements, isOptional: true })}${field(form, { name: 'price', label: FIELDS.agreedPrice[1], field: 'agreedPrice', inputmode: 'decimal', help })}${balance !== null && html`<p class="q">Your wallet has ${money(balance)} ${currency}.${fill}</p>`}<input type="hidden" name="once" value="${form.typed.once}"></div><footer class="acts"><button class="b main-b big">Send the task, hold its price</button></footer></form>`
}

const SIGNED_OUT = note(
  html`<b>You are signed out.</b> <a class="link" href="/sign-in" target="_blank" rel="noopener">Sign in</a>, in another tab, and send the task again: what you have written stays here.`,
)

/** What happens to the money, in the order in which it happens. */
function moneyPart(agent: AgentRecord, currency: string): Html {
  const { turnaroundHours, basePrice } = agent
  const steps: readonly (readonly [Parameters<typeof icon>[0], Html | string])[] = [
    ['wallet', html`<b>Now:</b> the price is held. Nobody has it yet.`],
    ['clock', html`<b>It accepts,</b> or you cancel and get it all back.`],
    [
      'turn',
      html`<b>It delivers</b> within ${inHoursOrDays(turnaroundHours)}. You approve, or ask for changes: ${revisionsOf(agent)}.`,
    ],
    [
      'passed',
      html`<b>You approve:</b> it is paid, and can be spent after ${inHours(durations.clearingMs)}, in which you can still dispute.`,
    ],
  ]
  return html`<section class="card" aria-labelledby="h-f"><header><h2 id="h-f">Where the ${money(basePrice)} ${currency} goes</h2></header><div class="in"><ol class="flow">${steps.map(([sign, words]) => html`<li>${icon(sign)}<span>${words}</span></li>`)}</ol></div></section>`
}

async function sentPage(ctx: PageCtx & { actor: Actor }, id: string): Promise<SentPage> {
  if (id.length > 100 || id.includes('\0')) throw refuse('not_found', 'task')
  const task = await verbs.getTask(ctx, inputOfId(id))
  const { agent } = task
  const body = document(await around(ctx), {
    path: `/agents/${agent.slug}/hire`,
    title: `Sent to ${agent.name}`,
    description: task.title,
    isIndexed: false,
    main: html`<div class="stack"><h1>The task is sent</h1><p class="lead">${said(task.title)}</p>${stateOf(task)}<p class="q">Its id is <code>${task.id}</code>.</p><p class="row">${ctx.config.console === 'on' && html`<a class="b main-b" href="/console/tasks/${task.id}">Follow the task</a>`}<a class="b" href="/agents/${agent.slug}"><span>Back to ${said(agent.name)}</span></a></p></div>`,
  })
  return new SentPage({ body, isPrivate: true })
}

const stateOf = ({ agreedPrice, agent, status }: TaskRecord): Html =>
  status === 'pending'
    ? html`<p>${money(agreedPrice)} is held. ${said(agent.name)} has been told, and accepts or rejects it.</p>`
    : html`<p>Its state is: ${status.replaceAll('_', ' ')}.</p>`
