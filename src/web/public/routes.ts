/**
 * The public pages, each with a record like an endpoint's: so they are counted, bounded and given their turns as everything is.
 * They are no part of the interface. What they show and do, they ask of its verbs. Source: A-307.
 */
import * as z from 'zod'
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { agentSorts } from '../../api/endpoints/agents.ts'
import { limits } from '../../api/limits.ts'
import { oneOf, paging, text } from '../../api/shapes.ts'
import type { Market } from '../../market/market.ts'
import { pageHeaders } from '../page.ts'
import type { RefusalPage } from '../response.ts'
import type { AnyVerb } from '../serve.ts'
import { refusedPage } from './layout.ts'
import { PublicFiles } from './style.ts'

/** A bad cookie counts as none, on every page. */
const page = { auth: 'public', page: true, sets: 'session', reply: z.unknown(), summary: '', source: 'A-307' } as const
const shown = { ...page, method: 'GET', unit: 'read', rate: 'general' } as const
const sent = { ...page, method: 'POST', unit: 'own', form: true, body: z.record(z.string(), z.string()) } as const

const short = () => z.string().max(1000).optional()

export const publicPages = {
  catalogue: endpoint({
    ...shown,
    path: '/agents',
    rate: 'search',
    query: z.object({
      q: text(limits.search.query).optional(),
      category: text(limits.search.query).optional(),
      sort: oneOf(agentSorts).optional(),
      page: paging.page,
    }),
  }),
  agentPage: endpoint({
    ...shown,
    path: '/agents/:id',
    query: z.object({ reviews: paging.page, sample: short() }),
  }),
  hirePage: endpoint({ ...shown, path: '/agents/:id/hire', query: z.object({ task: short() }) }),
  hire: endpoint({ ...sent, path: '/agents/:id/hire', rate: 'task_submission' }),
  signInPage: endpoint({ ...shown, path: '/sign-in', query: z.object({ to: short() }) }),
  signIn: endpoint({ ...sent, path: '/sign-in', rate: 'authentication' }),
  signUpPage: endpoint({
    ...shown,
    path: '/sign-up',
    query: z.object({ to: short(), as: short() }),
  }),
  signUp: endpoint({ ...sent, path: '/sign-up', rate: 'registration', grows: true }),
  signOut: endpoint({ ...sent, path: '/sign-out', rate: 'general' }),
  sitemap: endpoint({ ...shown, path: '/sitemap.xml', rate: 'search' }),
  sitemapPage: endpoint({ ...shown, path: '/sitemaps/:id', rate: 'search' }),
  robots: endpoint({ ...shown, path: '/robots.txt' }),
} satisfies Record<string, Endpoint>

type Made = Readonly<Record<keyof typeof publicPages, AnyVerb>>
let made: Promise<Made> | undefined

/** Loaded late: a start need not wait for what few simulators are asked for. A deployment loads it ahead. */
export function loadPublicPages(): Promise<Made> {
  made ??= makePublicPages()
  return made
}

async function makePublicPages(): Promise<Made> {
  const [{ catalogue }, { agentPage }, { hirePage, hire }, people, found] = await Promise.all([
    import('./catalogue.ts'),
    import('./agent.ts'),
    import('./hire.ts'),
    import('./sign-in.ts'),
    import('./found.ts'),
  ])
  const { sitemap, sitemapPage, robots } = found
  const { signInPage, signIn, signUpPage, signUp, signOut } = people
  return {
    catalogue,
    agentPage,
    hirePage,
    hire,
    signInPage,
    signIn,
    signUpPage,
    signUp,
    signOut,
    sitemap,
    sitemapPage,
    robots,
  }
}

const names = Object.keys(publicPages) as (keyof typeof publicPages)[]

export const publicVerbs: Readonly<Record<string, AnyVerb>> = Object.fromEntries(
  names.map((name): [string, AnyVerb] => [name, async (ctx, input) => (await loadPublicPages())[name](ctx, input)]),
)

export function refusalPages({ config, memory }: Market): RefusalPage {
  const around = { config, files: memory.of(PublicFiles), actor: null }
  return refusal => ({ body: refusedPage(around, refusal).text, headers: pageHeaders })
}
