/** The first users of a marketplace: with money, keys and agents that can be hired. */
import type { EndpointName } from '../../src/api/endpoints/index.ts'
import { cookieOf, keyTaken, newcomer } from './account-steps.ts'
import { agentSteps, secretTaken } from './agent-steps.ts'
import type { Person } from './model.ts'
import type { Answer } from './pair.ts'
import type { Plan, Scene } from './plan.ts'

const FEW = { people: 7, builders: 3 }

export interface Walker {
  readonly scene: Scene
  readonly ask: (name: EndpointName, plan: Plan) => Promise<Answer>
}

export async function settle({ scene, ask }: Walker, { people, builders } = FEW): Promise<void> {
  const walker: Walker = {
    scene,
    async ask(name, plan) {
      const answer = await ask(name, plan)
      if (answer.status >= 300) throw new Error(`The first users could not be made: ${answer.status} ${answer.body}`)
      return answer
    },
  }
  const { model } = walker.scene
  const { admin } = model
  const signIn = { email: admin.email, password: admin.password }
  const answer = await walker.ask('login', {
    body: signIn,
    done: answer => void admin.sessions.push(cookieOf(answer)),
  })
  admin.id = (answer.data as { user: { id: string } }).user.id
  await walker.ask('updateMe', { by: admin, via: 'session', body: { isBuilder: true } })
  await walker.ask('listCategories', {})
  await keyFor(walker, admin)
  for (let n = 0; n < people; n++) {
    await walker.ask('register', newcomer(walker.scene))
    await furnish(walker, model.people.at(-1)!)
  }
  for (const builder of model.people.slice(1, 1 + builders)) {
    for (let n = 0; n < 2; n++) await listAgent(walker, builder)
  }
}

async function keyFor(walker: Walker, by: Person): Promise<void> {
  await walker.ask('createKey', { by, via: 'session', body: { name: 'the first' }, done: keyTaken })
}

async function furnish(walker: Walker, by: Person): Promise<void> {
  const { admin } = walker.scene.model
  await keyFor(walker, by)
  const standing = { identityVerified: true, connectStatus: 'connected' }
  await walker.ask('adminUpdateUser', { by: admin, at: { id: by.id }, body: standing })
  const { data } = await walker.ask('deposit', { by, via: 'session', body: { amount: 400_000 } })
  await walker.ask('confirmDeposit', { by: admin, via: 'session', at: { id: (data as { id: string }).id } })
}

async function listAgent(walker: Walker, by: Person): Promise<void> {
  const { random, model } = walker.scene
  const { body } = agentSteps.createAgent(walker.scene)!
  const webhookUrl = `https://agent-at-${model.next()}.example/${random.pick(['ok', 'ok', 'flaky', 'twice'])}/`
  const { data } = await walker.ask('createAgent', {
    by,
    body: { ...(body as object), basePrice: random.from(200, 900), webhookUrl },
  })
  const { id } = data as { id: string }
  const about = { by, at: { id } }
  await walker.ask('rotateSecret', {
    ...about,
    done: secretTaken(walker.scene),
  })
  for (const name of ['testConnection', 'publishAgent'] as const) await walker.ask(name, about)
  await walker.ask('approveAgent', { by: model.admin, at: { id } })
}
