/**
 * Lets accounts of a simulator call verbs: by the shapes, the permission and the unit of the endpoint, without a request.
 * Source: A-253.
 */
import type { Endpoint } from '../api/endpoint.ts'
import type { CallInput } from '../api/endpoints/calls.ts'
import { type EndpointName, endpoints } from '../api/endpoints/index.ts'
import { refuse } from '../api/failures.ts'
import { type RateCategory, rates } from '../api/limits.ts'
import type { Actor, Market } from '../market/market.ts'
import { refuseUnlessMay, refuseWhenFull } from '../market/permission.ts'
import { countInCommon } from '../market/requests/rate-windows.ts'
import type { Verbs } from '../market/verb.ts'
import { verbs } from '../market/verbs.ts'
import type { Reader } from '../store/db.ts'
import { userById } from '../store/tables/accounts/users.ts'

/** `input`: path parameters, query and body in one object, as the client takes them. Rejects with a Refusal. */
export type Act = <Name extends EndpointName>(name: Name, input: CallInput<Name>) => ReturnType<Verbs[Name]>

// biome-ignore lint/suspicious/noExplicitAny: the types of each verb follow from its record
type AnyVerb = (ctx: any, input: Input) => Promise<unknown>

/**
 * Lets this account act. What belongs to requests does not apply: credentials, idempotency, and limits of rates unless there
 * is an `address` from which all of it comes.
 */
export function verbsAs(market: Market, userId: string, address: string | null = null): Act {
  const act = async (name: EndpointName, given: Given): Promise<unknown> => {
    const record: Endpoint = endpoints[name]
    const verb = verbs[name] as AnyVerb
    const input = inputOf(record, given)
    const inside = async (tx: Reader) => verb({ ...market, tx, actor: await admitted(tx, record, userId) }, input)
    if (address !== null) await refuseAboveRate(market, record.rate, address)
    if (record.grows === true) refuseWhenFull(market.db)
    if (record.unit === 'read') return market.db.read(inside)
    if (record.unit === 'write') return market.db.write(inside)
    return verb({ ...market, actor: await market.db.read(q => admitted(q, record, userId)) }, input)
  }
  return act as unknown as Act
}

async function refuseAboveRate(market: Market, category: RateCategory, address: string): Promise<void> {
  const now = market.world.now()
  const { count, endsAt } = await countInCommon(market, category, address, now)
  if (count > rates[category].limit) throw refuse('rate_limited', Math.ceil((endsAt - now) / 1000))
}

/** Each time anew, as what an account may do changes. */
async function admitted(q: Reader, record: Endpoint, userId: string): Promise<Actor> {
  const user = await userById(q, userId)
  if (!user) throw refuse('not_authenticated')
  refuseUnlessMay(record, user)
  return { user, via: 'session', credential: 'simulator' }
}

type Given = Readonly<Record<string, unknown>>

interface Input {
  params: Given
  query: unknown
  body: unknown
}

/** Throws the error of the shape if the input does not have it. */
function inputOf({ path, query, body }: Endpoint, given: Given): Input {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const asked = Object.keys(query?.shape ?? {}).filter(name => name in given)
  const only = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, given[name]]))
  const others = Object.keys(given).filter(name => !inPath.includes(name) && !asked.includes(name))
  // The shape of a query is that of texts.
  const texts = Object.fromEntries(asked.map(name => [name, String(given[name])]))
  return { params: only(inPath), query: query?.parse(texts) ?? {}, body: body?.parse(only(others)) }
}
