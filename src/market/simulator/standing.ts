/** What a simulator tells of itself to everybody who is signed in, and whom it lets sign in by a click. Source: A-310. */
import type * as z from 'zod'
import type { DevPerson, simulatedBuyer } from '../../api/dev-records.ts'
import type { callbackInput } from '../../api/endpoints/tasks.ts'
import { refuse } from '../../api/failures.ts'
import { deleteSession } from '../../store/tables/accounts/sessions.ts'
import { userById } from '../../store/tables/accounts/users.ts'
import type { TaskRow } from '../../store/tables/tasks/tasks.ts'
import { userRecord } from '../accounts/account-record.ts'
import { beginSession } from '../accounts/sign-in.ts'
import type { OwnCtx } from '../market.ts'
import { ledgerProblems } from '../money/ledger.ts'
import { visibleTask } from '../tasks/transitions.ts'
import { iso, isoOrNull } from '../time.ts'
import { clockOf } from '../upkeep/clock.ts'
import { dueThings } from '../upkeep/timetable.ts'
import type { Verb } from '../verb.ts'

interface StandingAgent {
  readonly agentId: string
  readonly slug: string
  readonly forwardTo: string
  readonly isUp: boolean
  /** Of its process, if the simulator has one. */
  readonly command: string | null
  readonly pid: number | null
  /** Real time. */
  readonly startedAt: number | null
}

/** What only the program that runs the simulator knows. */
export class Surroundings {
  /** Ids of the accounts that it has made. */
  people: Partial<Readonly<Record<DevPerson, string>>> = {}
  database = ''
  seed: string | null = null
  agents: () => readonly StandingAgent[] = () => []
  /** Sends a callback as the agent would; null: it has no secret to sign with. */
  callBack: (task: Pick<TaskRow, 'id' | 'agentId'>, callback: z.infer<typeof callbackInput>) => Promise<Called | null> =
    async () => null
  buyers: SimulatedBuyers = { all: () => [], set: async () => {} }
}

/** The response to a callback; null: none came. */
interface Called {
  readonly status: number | null
  readonly error: string | null
}

interface SimulatedBuyers {
  all(): readonly z.infer<ReturnType<typeof simulatedBuyer>>[]
  set(name: string, isHere: boolean): Promise<void>
}

const MOST_WARNINGS = 20

const getDevStatus: Verb<'getDevStatus'> = async ctx => {
  const { db, world, config, memory, recording } = ctx
  const { database, seed, agents } = memory.of(Surroundings)
  const [next] = await db.read(q => dueThings(q, ctx, world.now(), 1))
  const warnings = recording?.entries.all(({ type }) => type === 'warning') ?? []
  return {
    version: config.version,
    database: { engine: db.shared ? 'postgres' : 'embedded', name: database },
    seed,
    startedAt: iso(world.realNow() - process.uptime() * 1_000),
    clock: { ...clockOf(ctx), next: next ?? null },
    ledger: await memory.of(LedgerLight).look(ctx),
    agents: agents().map(agent => ({ ...agent, startedAt: isoOrNull(agent.startedAt) })),
    warnings: warnings
      .slice(-MOST_WARNINGS)
      .reverse()
      .flatMap(entry => {
        if (entry.type !== 'warning') return []
        const { at, message, agentId = null, taskId = null, diagnosis = null } = entry
        return [{ at: iso(at), message, agentId, taskId, diagnosis }]
      }),
  }
}

type Light = { readonly ok: boolean; readonly problems: number; readonly checkedAt: string }

const LOOK_MS = 5_000

/** The books are looked through once in a while, however many ask. */
class LedgerLight {
  #last: { readonly light: Light; readonly until: number } | null = null
  #looking: Promise<Light> | null = null

  async look({ db, world }: Pick<OwnCtx, 'db' | 'world'>): Promise<Light> {
    if (this.#last && world.realNow() < this.#last.until) return this.#last.light
    this.#looking ??= db
      .read(ledgerProblems)
      .then(({ ok, problems }) => {
        const light = { ok, problems: problems.length, checkedAt: iso(world.now()) }
        this.#last = { light, until: world.realNow() + LOOK_MS }
        return light
      })
      .finally(() => (this.#looking = null))
    return this.#looking
  }
}

const signInAs: Verb<'signInAs'> = async ({ db, world, memory, actor, caller }, { body }) => {
  const id = memory.of(Surroundings).people[body.as]
  if (id === undefined) throw refuse('not_found', 'account of this simulator')
  return db.write(async tx => {
    const user = await userById(tx, id)
    if (!user) throw refuse('not_found', 'account of this simulator')
    if (user.banned) throw refuse('banned')
    if (actor?.via === 'session') await deleteSession(tx, actor.credential)
    const session = await beginSession(tx, world, user.id, caller)
    return { data: { user: userRecord(user, world.now()) }, session }
  })
}

const answerAsAgent: Verb<'answerAsAgent'> = async (ctx, { params, body }) => {
  const task = await ctx.db.read(tx => visibleTask({ tx, actor: ctx.actor }, params.id))
  const called = await ctx.memory.of(Surroundings).callBack(task, body)
  if (!called) throw refuse('not_found', 'secret of this agent')
  return called
}

const listBuyers: Verb<'listBuyers'> = async ({ memory }) => ({ items: [...memory.of(Surroundings).buyers.all()] })

const setBuyer: Verb<'setBuyer'> = async ({ memory }, { params: { id }, body: { isHere } }) => {
  const { buyers } = memory.of(Surroundings)
  await buyers.set(id, isHere)
  const buyer = buyers.all().find(one => one.name === id)
  if (!buyer) throw refuse('not_found', 'character')
  return buyer
}

export const standingVerbs = { getDevStatus, signInAs, answerAsAgent, listBuyers, setBuyer }
