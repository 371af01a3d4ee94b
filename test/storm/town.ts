/** Where every storm begins: a marketplace with people, money and agents that can be hired, made once for a process. */
import { type EndpointName, endpoints } from '../../src/api/endpoints/index.ts'
import type { SqliteDb } from '../../src/store/embedded/database.ts'
import { answered } from '../../src/world/virtual.ts'
import type { Outgoing } from '../../src/world/world.ts'
import { settle } from '../differential/first-users.ts'
import { answerIn, wireRequest } from '../differential/in-names.ts'
import { Model } from '../differential/model.ts'
import { Names } from '../differential/names.ts'
import type { Answer } from '../differential/pair.ts'
import type { Plan, Scene } from '../differential/plan.ts'
import { Random } from '../differential/random-values.ts'
import { requestOf } from '../differential/request.ts'
import { MemoryDisk } from '../store/memory-disk.ts'
import type { Machine } from '../store/page-cache.ts'
import type { WireAnswer } from '../support/wire.ts'
import { Ground } from './ground.ts'
import { openOn, Service } from './service.ts'

const SIZE = { people: 18, builders: 5 }
const SEED = 'the town of all storms'

/** What its people were answered, in order, and what its disk has. */
export interface Town {
  readonly tape: readonly WireAnswer[]
  readonly machine: Machine
  readonly endsAt: number
}

/** What the people of a town know. */
export interface Memory {
  model: Model
  names: Names
}

type Ask = (memory: Memory, name: EndpointName, plan: Plan) => Promise<WireAnswer>

/** Plays the first days, by asking or by remembering what was answered. */
async function beginnings(ask: Ask): Promise<Memory> {
  const memory = { model: new Model(), names: new Names() }
  const scene: Scene = { model: memory.model, random: new Random(SEED), now: 0 }
  const asked = async (name: EndpointName, plan: Plan): Promise<Answer> => {
    const answer = answerIn(memory.names, await ask(memory, name, plan))
    if (answer.status < 300) {
      memory.model.learn(name, answer.data, plan.at ?? {}, plan.by ?? null)
      plan.done?.(answer, plan)
    }
    return answer
  }
  await settle({ scene, ask: asked }, SIZE)
  return memory
}

/** The same people again, as they were. */
export function remembered({ tape }: Town): Promise<Memory> {
  let at = 0
  return beginnings(async () => tape[at++]!)
}

/** Makes it. */
export async function madeTown(): Promise<Town> {
  const tape: WireAnswer[] = []
  let known: Memory | undefined
  const egress = {
    async post({ body }: Outgoing) {
      const { data } = JSON.parse(body)
      const secret = known?.model.secrets.get(known.names.named(data.agentId))
      if (data.test && secret && known) {
        const { pathname } = new URL(data.callbackUrl)
        const callback = {
          method: 'POST',
          target: pathname,
          headers: [['content-type', 'application/json']] as [string, string][],
        }
        const signed = { ...callback, body: '{"action":"accept"}', signed: { secret, ageMs: 0 } }
        await service.exchange(...wireRequest(signed, known.names, ground.world.realNow()))
      }
      return answered(200)
    },
    close: async () => {},
  }
  const ground = new Ground('town', { egress, tells: false })
  const disk = new MemoryDisk()
  let db: SqliteDb | undefined
  const service = await Service.start({
    ground,
    async open(options) {
      db = await openOn(disk, options)
      return db
    },
    skewMs: () => 0,
    post: () => ({ ok: true }),
    onFatal: () => {},
  })
  let addresses = 0
  await beginnings(async (memory, name, plan) => {
    known = memory
    const address = `172.16.${Math.floor(addresses / 250)}.${addresses++ % 250}`
    const request = requestOf(endpoints[name], plan, { address })
    ground.world.tick(10)
    const answer = await service.exchange(...wireRequest(request, memory.names, ground.world.realNow()))
    if (!answer) throw new Error(`${name} was not answered`)
    tape.push(answer)
    return answer
  })
  await db?.snapshot()
  await service.stop()
  return { tape, machine: disk.now(), endsAt: ground.world.realNow() + 1_000 }
}
