// engines: embedded; process: shared
/** Agents that a marketplace lists, each looked at from outside: what is done to them, what it costs, and what every check says. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Client, createClient, MarketplaceError } from '../../src/client/typed-client.ts'
import { type Declared, nothingDeclared } from '../../src/conform/agent/declared.ts'
import type { Purchases } from '../../src/conform/history/history.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { outsideChecks, scenesFor } from '../../src/conform/listed-agent/checks.ts'
import { lookAt, type OutsideOptions } from '../../src/conform/listed-agent/run.ts'
import { labels, scenes } from '../../src/conform/listed-agent/scenes.ts'
import { type Bug, openDeployment, PRICE } from '../cli/listed-deployment.ts'
import { sameAsKept } from '../support/golden.ts'
import { until } from '../support/patience.ts'
import { scriptOf } from './script.ts'

const test = suite('a listed agent')

/** What was seen last time. `npm run goldens` writes it anew. */
const SEEN = 'test/conform/listed.txt'

const declared: Declared = {
  ...nothingDeclared,
  rejects: [
    {
      ...{ kind: 'rejects', title: 'Not this please', description: 'A task that such an agent does not take.' },
      ...{ requirements: '', price: PRICE },
    },
  ],
}
/** For agents that never do it. */
const impatient = (what: 'answer' | 'work'): Declared => ({
  ...declared,
  patience: { ...declared.patience, [what]: 300 },
})

/** That is said of most checks. */
const UNSEEN = 'from outside it can’t be seen: play a marketplace to the agent, with --start or --url'

interface Look {
  readonly bug?: Bug
  /** Another account than that of its builder. */
  readonly isOther?: boolean
  readonly limit: number | null
  readonly declared?: Declared
  /** So often its marketplace says that it is being tested. */
  readonly busy?: number
  /** Whoever cancels comes when the agent has delivered. */
  readonly isQuicker?: boolean
}

const looks: Readonly<Record<string, Look>> = {
  'with money for all': { bug: 'waits', limit: 5 * PRICE },
  'that is quicker than who cancels': { limit: 2 * PRICE, isQuicker: true, declared: nothingDeclared },
  'for nothing': { limit: null },
  'that is being tested already': { limit: null, busy: 3 },
  'that is being tested over and over': { limit: null, busy: 4 },
  'of another builder, with money for two tasks': { isOther: true, limit: 2 * PRICE, declared: nothingDeclared },
  'that takes no revisions': { limit: PRICE, declared: { ...nothingDeclared, revisions: false } },
  'that answers 202': { bug: '202', limit: PRICE },
  'that never decides': { bug: 'never decides', limit: 2 * PRICE, declared: impatient('answer') },
  'that never delivers': { bug: 'never delivers', limit: PRICE, declared: impatient('work') },
  'that delivers the same again': { bug: 'same again', limit: PRICE },
  'that tells its secret': { bug: 'leaks', limit: PRICE },
  'that rejects without a word': { bug: 'mute', limit: 5 * PRICE },
}

let market: Awaited<ReturnType<typeof openDeployment>>
test.before(async () => {
  market = await openDeployment()
})
test.after(() => market.close())

/** A marketplace that says so often that somebody else tests the agent. */
function busyFor(times: number, client: Client): Client {
  let left = times
  const testConnection: Client['testConnection'] = async (...about) => {
    if (left-- <= 0) return client.testConnection(...about)
    const headers = new Headers({ 'retry-after': '0' })
    throw new MarketplaceError({ status: left % 2 === 0 ? 429 : 409, headers, error: 'It is being tested' } as never)
  }
  return { ...client, testConnection }
}

function late(client: Client): Client {
  const cancelTask: Client['cancelTask'] = async (about, ...more) => {
    await until('the delivery', async () => (await client.getTask({ id: about.id })).status === 'delivered')
    return client.cancelTask(about, ...more)
  }
  return { ...client, cancelTask }
}

async function seen(name: string, look: Look) {
  const { bug = 'none', isOther = false, limit, declared: said = declared, busy = 0, isQuicker = false } = look
  const slug = name.replaceAll(/\W+/g, '-')
  // Tests of one account's agents wait for each other.
  const owner = await market.newBuyer()
  await market.startAgent(slug, bug, owner)
  const { apiKey } = isOther ? await market.newBuyer() : owner
  const plain = createClient({ baseUrl: market.url, apiKey })
  const client = busyFor(busy, isQuicker ? late(plain) : plain)
  const agent = await client.getAgent({ id: slug })
  let purchases: Purchases | null = null
  const options: OutsideOptions = {
    ...{ client, marketplace: 'http://market.example', agent, isOwn: !isOther, limit, declared: said, seed: 1 },
    ...{ scenes: scenesFor(outsideChecks), newId: () => crypto.randomUUID(), signal: new AbortController().signal },
    onPurchases: now => {
      purchases = now
    },
  }
  const history = await lookAt(options)
  const [told] = history.of('purchases')
  if (told) assert.equal({ ...told, ...(purchases as Purchases | null) }, told)
  const isRaced = bug !== 'waits'
  const races: string[] = isRaced ? [labels.testBeside, ...(isQuicker ? [] : [labels.cancelled])] : []
  const bought = told?.tasks.filter(({ label }) => !races.includes(label)) ?? []
  const paid = bought.map(({ label, price, status }) => `  ${label} for ${price} ${status}\n`).join('')
  const verdicts = judge(outsideChecks, history)
    .filter(({ text }, at) => outsideChecks[at]!.scenario !== scenes.unseen || text !== UNSEEN)
    .filter(({ id }) => !isRaced || id !== labels.testBeside)
  const lines = verdicts.map(({ id, verdict, text }) => `  ${id} ${verdict} ${text}`.trimEnd())
  const script = scriptOf(history, races)
  return `An agent ${name}\n\n${script}bought\n${paid}verdicts\n${lines.join('\n')}\n\n`
}

test('what is done to it and what is seen is what it was before, to the letter', async () => {
  const texts = await Promise.all(Object.entries(looks).map(([name, look]) => seen(name, look)))
  sameAsKept(SEEN, texts.join(''))
})

test.run()
