/** Accounts, keys, wallets, notifications and what administrators do with them. */
import type { accounts, keys } from '../../src/api/endpoints/accounts.ts'
import type { conformance } from '../../src/api/endpoints/conformance.ts'
import type { notifications } from '../../src/api/endpoints/notifications.ts'
import type { recording } from '../../src/api/endpoints/recording.ts'
import type { requestors } from '../../src/api/endpoints/requestors.ts'
import type { secondFactor } from '../../src/api/endpoints/second-factor.ts'
import type { sessions } from '../../src/api/endpoints/sessions.ts'
import type { simulator } from '../../src/api/endpoints/simulator.ts'
import type { wallet } from '../../src/api/endpoints/wallet.ts'
import { directions, transactionTypes } from '../../src/api/money-records.ts'
import type { Person } from './model.ts'
import type { Answer } from './pair.ts'
import { choose, type Makers, type Plan, paging, type Scene, someone, withSession } from './plan.ts'

/** The session that an answer sets. */
export const cookieOf = ({ headers }: Answer) => /^[^;]+/.exec(headers['set-cookie'] ?? '')?.[0] ?? ''

/** A new account; taken down once it is answered. */
export function newcomer({ model, random }: Scene, isBuilder = true) {
  const count = model.next()
  const person: Person = {
    id: '',
    name: random.text(2, 60),
    email: `${random.pick(['a', 'Z', 'm_', "o'b", '0'])}${count}@${random.pick(['example.com', 'Example.org'])}`,
    password: `password ${count} of a test`,
    isAdmin: false,
    sessions: [],
    keys: [],
  }
  const { email, password, name } = person
  return {
    body: { email, password, name, isBuilder },
    done(answer: Answer, sent: Plan) {
      const { email, password } = sent.body as Pick<Person, 'email' | 'password'>
      Object.assign(person, { email, password })
      person.id = (answer.data as { user: { id: string } }).user.id
      person.sessions.push(cookieOf(answer))
      model.people.push(person)
    },
  }
}

/** A repeated answer holds no key. */
export const keyTaken = ({ data }: Answer, { by }: Plan) => {
  const { key, keyInfo } = data as { key?: string; keyInfo: { id: string } }
  if (key) by?.keys.push({ id: keyInfo.id, key })
}

/** Some of the filters of transactions. */
function transactionsAsked(scene: Scene): Record<string, unknown> {
  const { random, now } = scene
  const time = () => new Date(now - random.pick([0, 1_000, 3_600_000, 86_400_000])).toISOString()
  return {
    ...(random.often(0.5) && { type: random.pick(transactionTypes) }),
    ...(random.often(0.2) && { direction: random.pick(directions) }),
    ...(random.often(0.3) && { taskId: random.recent(scene.model.all('task'))?.id ?? 'none' }),
    ...(random.often(0.2) && { from: time() }),
    ...(random.often(0.2) && { to: time() }),
  }
}

export const accountSteps: Makers<
  | keyof typeof accounts
  | keyof typeof secondFactor
  | keyof typeof sessions
  | keyof typeof keys
  | keyof typeof notifications
  | keyof typeof requestors
  | keyof typeof wallet
  | keyof typeof recording
  | keyof typeof simulator
  | keyof typeof conformance
> = {
  register: scene => {
    const { model, random } = scene
    const plan = newcomer(scene, random.often(0.8))
    const known = random.pick(model.people)
    return random.often(0.2) ? { body: { ...plan.body, email: known.email.toUpperCase() } } : plan
  },
  login: scene => {
    const { model, random } = scene
    const away = model.people.filter(({ sessions }) => sessions.length === 0)
    const person = random.pick(away.length > 0 ? away : model.people)
    const password = random.often(0.1) ? 'another password' : person.password
    const email = random.often(0.5) ? ` ${person.email.toUpperCase()} ` : person.email
    const factor = random.often(0.9) ? factorOf(scene, person) : {}
    return {
      body: { email, password, ...factor },
      done: (answer, sent) => {
        person.sessions.push(cookieOf(answer))
        usedUp(person, sent)
      },
    }
  },
  logout: scene => {
    const by = withSession(scene)
    return { by, via: 'session', done: (_, sent) => void sent.by?.sessions.pop() }
  },
  me: scene => ({ by: someone(scene) }),
  updateMe: scene => {
    const { random } = scene
    const by = withSession(scene)
    const role = by.isAdmin || random.often(0.8) ? {} : { isBuilder: random.often(0.6) }
    return { by, via: 'session', body: { ...(random.often(0.8) && { name: random.text(2, 100) }), ...role } }
  },
  changePassword: scene => {
    const by = withSession(scene)
    const newPassword = `${by.password.slice(0, 40)} ${scene.random.below(100)}`
    return {
      by,
      via: 'session',
      body: { currentPassword: by.password, newPassword, ...(scene.random.often(0.1) && { endKeys: true }) },
      done: (_, sent) => {
        const { newPassword: password, endKeys } = sent.body as { newPassword: string; endKeys?: boolean }
        if (sent.by) Object.assign(sent.by, { password, ...(endKeys && { keys: [] }) })
      },
    }
  },
  getTotp: scene => ({ by: withSession(scene), via: 'session' }),
  beginTotp: scene => {
    const by = withSession(scene)
    if (by.isAdmin || by.recoveryCodes) return undefined
    const done = ({ data }: Answer) => {
      by.secret = (data as { secret: string }).secret
    }
    return { by, via: 'session', body: { password: by.password }, done }
  },
  confirmTotp: ({ model, random }) => {
    const begun = model.people.filter(
      ({ secret, recoveryCodes, sessions }) => secret && !recoveryCodes && sessions.length,
    )
    const by = random.pick(begun)
    if (!by) return undefined
    const done = ({ data }: Answer) => {
      by.recoveryCodes = (data as { recoveryCodes: string[] }).recoveryCodes
      by.sessions = by.sessions.slice(-1)
    }
    return { by, via: 'session', body: { code: random.often(0.9) ? `code(${by.secret})` : '123456' }, done }
  },
  removeTotp: scene => {
    const { model, random } = scene
    const by = random.pick(model.people.filter(({ recoveryCodes, sessions }) => recoveryCodes && sessions.length > 0))
    if (!by) return undefined
    const done = () => {
      by.secret = undefined
      by.recoveryCodes = undefined
    }
    return { by, via: 'session', body: { password: by.password, ...factorOf(scene, by) }, done }
  },

  listSessions: scene => ({ by: withSession(scene), via: 'session', query: paging(scene) }),
  endSession: scene => {
    const one = scene.random.recent(scene.model.all('ses'))
    return one && { by: one.seenBy, via: 'session', at: { id: one.id } }
  },
  endOtherSessions: scene => {
    const by = withSession(scene)
    const done = () => {
      by.sessions = by.sessions.slice(-1)
    }
    return { by, via: 'session', done }
  },

  requestPasswordReset: ({ model, random }) => ({
    body: { email: random.often(0.8) ? random.pick(model.people).email : 'nobody@example.com' },
  }),
  confirmPasswordReset: ({ model, random }) => {
    const token = (random.often(0.8) ? model.tokens.at(-1) : random.recent(model.tokens)) ?? 'none'
    const [name, email] = token.split(' to ')
    const password = `a password reset ${random.below(1000)}`
    return {
      body: { token: name, password, ...(random.often(0.7) && { keepKeys: true }) },
      done: (_, sent) => {
        const { password, keepKeys } = sent.body as { password: string; keepKeys?: boolean }
        const lost = { sessions: [], ...(!keepKeys && { keys: [] }) }
        for (const person of model.people) {
          if (person.email.toLowerCase() === email) Object.assign(person, { password, ...lost })
        }
      },
    }
  },

  listKeys: scene => ({ by: someone(scene), query: paging(scene) }),
  createKey: scene => {
    const { model, random } = scene
    const keyless = model.people.filter(({ id, keys, sessions }) => id && keys.length === 0 && sessions.length > 0)
    const by = random.often(0.5) && keyless.length > 0 ? random.pick(keyless) : someone(scene)
    return {
      by,
      via: by.keys.length > 0 ? 'key' : 'session',
      body: { name: random.text(1, 40) },
      done: keyTaken,
    }
  },
  deleteKey: scene => {
    // Never the last: without keys little happens.
    const by = scene.random.pick(scene.model.people.filter(({ keys }) => keys.length > 1))
    const id = by?.keys[0]?.id
    if (!by || !id) return undefined
    return {
      by,
      at: { id },
      done: (_, sent) => {
        if (sent.by) sent.by.keys = sent.by.keys.filter(key => key.id !== sent.at?.id)
      },
    }
  },

  listNotifications: scene => ({
    by: someone(scene),
    query: { ...(scene.random.often(0.4) && { unread: 'true' }), ...paging(scene) },
  }),
  readNotifications: scene => (scene.random.often(0.3) ? { by: someone(scene) } : undefined),
  readNotification: scene => {
    const one = choose(scene, 'ntf', ({ readAt }) => readAt === null)
    return one && { by: one.seenBy, at: { id: one.id } }
  },

  getReputation: scene => ({ by: someone(scene), at: { userId: requestorOf(scene) } }),
  listHistory: scene => {
    const agent = scene.random.recent(scene.model.all('agt'))
    const narrow = agent && scene.random.often(0.3) ? { agentId: agent.id } : {}
    return { by: someone(scene), at: { userId: requestorOf(scene) }, query: { ...narrow, ...paging(scene) } }
  },

  getWallet: scene => ({ by: someone(scene) }),
  listTransactions: scene => {
    return { by: someone(scene), query: { ...transactionsAsked(scene), ...paging(scene) } }
  },
  listLedger: scene => ({ by: someone(scene), query: { ...transactionsAsked(scene), ...paging(scene) } }),
  getDepositLimits: scene => ({ by: someone(scene) }),
  getEarnings: scene => ({
    by: scene.random.often(0.7) ? scene.random.pick(scene.model.people.slice(1, 4)) : someone(scene),
  }),
  deposit: scene => ({
    by: scene.random.often(0.6) ? scene.random.pick(scene.model.people.slice(1, 8)) : withSession(scene),
    via: 'session',
    body: { amount: scene.random.pick([200, 10_000, 20_000, 50_000, 100_000, 499_999, 500_000, 1_000_000]) },
  }),
  withdraw: scene => ({
    by: withSession(scene),
    via: 'session',
    body: { amount: scene.random.pick([200, 201, 500, 1_000, 5_000, 50_000_000]) },
  }),
  connectPayouts: scene => ({ by: withSession(scene), via: 'session' }),

  getClock: ({ model, random }) => ({ by: model.admin, query: random.often(0.5) ? { limit: '5' } : {} }),
  signInAs: scene => ({ by: someone(scene), body: { as: 'buyer' } }),
  getDevStatus: scene => ({ by: someone(scene) }),
  // Neither has a program around it.
  answerAsAgent: scene => ({ by: someone(scene), at: { id: 'none' }, body: { action: 'accept' } }),
  listBuyers: ({ model }) => ({ by: model.admin }),
  setBuyer: ({ model }) => ({ by: model.admin, at: { id: 'picky' }, body: { isHere: true } }),
  // How long an exchange took is up to the machine.
  listExchanges: ({ model }) => ({ by: model.admin, query: { taskId: 'none' } }),
  getExchange: ({ model }) => ({ by: model.admin, at: { id: 'none' } }),
  diagnoseExchange: ({ model }) => ({ by: model.admin, at: { id: 'none' } }),
  // Mails of one moment go side by side: which is first is the engine's own affair, so nobody asks who may see them.
  listMails: () => ({ by: null }),
  clearFault: ({ model }) => ({ by: model.admin, at: { id: 'none' } }),
  watchChanges: scene => ({ by: someone(scene), query: { follow: 'perhaps' } }),
  watchEvents: scene => ({ by: someone(scene), query: { after: '-1' } }),
  moveClock: ({ model, random, now }) => {
    const ms = random.pick([0, 1, 999, 60_000, 3_600_000, 14_400_000])
    const body = random.often(0.5) ? { advanceMs: ms } : { to: new Date(now + ms).toISOString() }
    return { by: model.admin, body }
  },
  // One that nothing meets, so that both go on alike.
  armFault: ({ model, random }) => ({
    by: model.admin,
    body: {
      name: random.pick(['copy', 'unavailable']),
      on: random.pick(['task.submitted', null]),
      agentId: 'agt_nobody',
    },
  }),
  listFaults: ({ model }) => ({ by: model.admin }),
  clearFaults: ({ model }) => ({ by: model.admin }),
  // Neither has an agent of its own machine.
  judgeAgent: ({ model }) => ({ by: model.admin, body: { agentId: 'agt_nobody' } }),
  listConformanceRuns: ({ model }) => ({ by: model.admin }),
  getConformanceRun: ({ model }) => ({ by: model.admin, at: { id: 'none' } }),
  stopConformanceRun: ({ model }) => ({ by: model.admin, at: { id: 'none' } }),
  scaleClock: ({ model, random }) => ({ by: model.admin, body: { scale: random.pick([1, 0, 1.5, 10_001]) } }),
}

/** What somebody with a second factor sends beside the password. */
function factorOf({ random }: Scene, { secret, recoveryCodes }: Person) {
  if (!secret || !recoveryCodes) return {}
  const recoveryCode = recoveryCodes.at(-1)
  return recoveryCode && random.often(0.5) ? { recoveryCode } : { totp: `code(${secret})` }
}

function usedUp(person: Person, { body }: Plan): void {
  const used = (body as { recoveryCode?: string }).recoveryCode
  if (used) person.recoveryCodes = person.recoveryCodes?.filter(code => code !== used)
}

/** An account, or an agent that buys. */
function requestorOf({ model, random }: Scene): string {
  const agent = random.often(0.3) ? random.recent(model.all('agt')) : undefined
  return agent?.id ?? random.pick(model.people).id
}
