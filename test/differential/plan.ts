/** One step as it is meant: which endpoint, by whom, with what. All in names. */
import { agentSorts } from '../../src/api/endpoints/agents.ts'
import type { EndpointName } from '../../src/api/endpoints/index.ts'
import type { Known, Model, Person } from './model.ts'
import type { Answer } from './pair.ts'
import type { Random } from './random-values.ts'

export interface Part {
  name: string
  /** Makes it a file. */
  fileName?: string
  content: string | Buffer
}

export interface Plan {
  /** Nobody unless given. */
  by?: Person | null
  via?: 'key' | 'session'
  at?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
  /** Goes as multipart. */
  form?: Part[]
  signed?: { secret: string; ageMs: number }
  /** After a 2xx; `sent` is the plan as it was asked, which may be another than was meant. */
  done?(answer: Answer, sent: Plan): void
}

export interface Scene {
  model: Model
  random: Random
  /** Domain time of both sides. */
  now: number
}

/** undefined where there is nothing that it could be asked about yet. */
type Maker = (scene: Scene) => Plan | undefined
export type Makers<Names extends EndpointName = EndpointName> = { readonly [name in Names]: Maker }

/** Somebody with a key, who mostly builds. */
export const someone = ({ model, random }: Scene): Person =>
  random.pick(model.people.filter(({ keys }) => keys.length > 0))

export const withSession = ({ model, random }: Scene): Person =>
  random.pick(model.people.filter(({ sessions }) => sessions.length > 0)) ?? model.admin

/** The builder of an agent, the buyer of a task: whoever the record says. */
export const ownerOf = ({ model }: Scene, id: unknown): Person | null => model.person(String(id)) ?? null

/** Agents of which somebody here is the builder. */
export const agents = ({ model }: Scene, status?: (agent: Known) => boolean): Known[] =>
  model.all('agt').filter(agent => agent.builder && (status?.(agent) ?? true))

export const listed = (agent: Known) => agent.status === 'verified' || agent.status === 'active'

/** A recent one that fits; one in ten times, any. */
export function choose({ model, random }: Scene, kind: string, fits: (record: Known) => boolean): Known | undefined {
  const all = model.all(kind)
  if (random.often(0.1)) return random.recent(all)
  return random.recent(all.filter(fits)) ?? random.recent(all)
}

/** Page and limit, mostly within what there is. */
export function paging({ random }: Scene): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  if (random.often(0.4)) query.limit = random.pick([1, 2, 3, 5, 7, 20, 50, 100])
  if (random.often(0.4))
    query.page = random.weighted([
      [1, 2],
      [2, 4],
      [3, 3],
      [4, 2],
      [40, 1],
      [999_999_999, 0.3],
    ])
  return query
}

export const sorts = agentSorts
