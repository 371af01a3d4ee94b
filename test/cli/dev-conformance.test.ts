// engines: embedded; process: shared; lengths: short, long
/** The judge of a simulator: what its pages show of a run, while it goes on and after. Source: A-312. */
import { resolve } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { JudgedRun, JudgedRunDetails } from '../../src/api/endpoints/conformance.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { isLong } from '../support/length.ts'
import { until } from '../support/patience.ts'
import { inFolder, startDev } from './program.ts'

const RIGHT = `node ${resolve('test/conform/agents/stacks/node-http.mjs')}`
const WRONG = `node ${resolve('test/conform/agents/mutant.mjs')} --bug bare-requests-pass`
const PATH = '/api/dev/conformance'

interface Ready {
  url: string
  accounts: Record<'admin' | 'buyer', { apiKey: string }>
  agents: { id: string; slug: string }[]
}

function judgeOf({ url, accounts, agents }: Ready) {
  const admin = new HttpUser(url)
  admin.key = accounts.admin.apiKey
  const buyer = new HttpUser(url)
  buyer.key = accounts.buyer.apiKey
  const get = (id: string) => admin.call<JudgedRunDetails>('GET', `${PATH}/${id}`, undefined, 'key')
  const begin = (body: object) => admin.call<JudgedRun>('POST', PATH, body, 'key')
  const ended = async (id: string) => {
    await until('the end of the run', async () => (await get(id)).state !== 'running', 120)
    return get(id)
  }
  return { admin, buyer, get, begin, ended, mine: agents[1]!, sample: agents[0]! }
}

/** Of a `dev` that runs this agent, and that has to end whatever is under way. */
const judging = (agent: string, look: (judge: ReturnType<typeof judgeOf>) => Promise<void>) =>
  inFolder(async folder => {
    const { ready, stop } = await startDev(folder, {}, ['--ephemeral', '--run', agent])
    try {
      await look(judgeOf(ready))
    } finally {
      assert.is((await stop()).code, 0)
    }
  })

test(
  'an agent that dev runs is judged by a process of its own, check by check',
  judging(RIGHT, async ({ admin, buyer, begin, get, ended, mine, sample }) => {
    const refused = async (agentId: string, words: RegExp) => {
      const { status, error } = await admin.ask('POST', PATH, { agentId }, 'key')
      assert.is(status, 409)
      assert.match(`${error}`, words)
    }
    await refused(sample.id, /neither runs this agent/)

    const first = await begin({ agentId: mine.id, only: ['sig'], seed: 7 })
    const { id: _, startedAt, ms, ...begun } = first
    assert.equal([new Date(startedAt).toISOString(), typeof ms], [startedAt, 'number'])
    assert.equal(begun, {
      ...{ agentId: mine.id, agentSlug: mine.slug, command: RIGHT, only: ['sig'], state: 'running', outcome: null },
      ...{ text: '', seed: null, played: 0, scenarios: 0, summary: null },
    })
    await refused(mine.id, /A run is under way/)
    const run = await ended(first.id)
    assert.is(run.state, 'done', run.text)
    assert.is(run.outcome, 'good')
    assert.is(run.seed, 7)
    assert.is(run.played, run.scenarios)
    assert.ok(run.checks.length > 20)
    assert.equal([run.causes, run.deaths], [[], []])
    assert.is(run.summary!.pass, run.checks.length)
    assert.match(run.text, /^[^\n]+$/)
    assert.ok(run.areas.some(({ id, about }) => id === 'sig' && about !== ''))
    const [shown] = run.checks
    const rule = checks.find(({ id }) => id === shown!.id)!
    const { title, level, law, why, fix } = rule
    assert.equal(shown, {
      ...{ id: rule.id, title, area: 'sig', level, verdict: 'pass', isToCome: false, text: '', law, why, fix },
      ...{ behind: null, seen: [] },
    })
    for (const { id, area, isToCome, verdict, seen } of run.checks) {
      assert.is(area, 'sig', id)
      assert.not(isToCome, id)
      assert.equal([verdict, seen], ['pass', []], id)
    }

    const words = await admin.ask('POST', PATH, { agentId: mine.id, only: ['--start=exit'] }, 'key')
    assert.is(words.status, 400, 'the words of a request are no flags')
    assert.is((await buyer.ask('POST', PATH, { agentId: mine.id }, 'key')).status, 409)
    assert.is((await buyer.ask('GET', `${PATH}/${first.id}`, undefined, 'key')).status, 404)
    assert.equal(await buyer.call('GET', PATH, undefined, 'key'), { items: [] })

    const second = await begin({ agentId: mine.id })
    await until('the first checks', async () => (await get(second.id)).played > 0, 60)
    const meanwhile = await get(second.id)
    assert.is(meanwhile.outcome, null)
    assert.ok(meanwhile.checks.some(({ isToCome }) => isToCome))
    await admin.call('POST', `${PATH}/${second.id}/stop`, undefined, 'key')
    await until('its end', async () => (await get(second.id)).state === 'stopped', 60)
    const { items } = await admin.call<{ items: JudgedRun[] }>('GET', PATH, undefined, 'key')
    assert.equal(
      items.map(({ id }) => id),
      [second.id, first.id],
    )
  }),
)

if (isLong)
  test(
    'a wrong agent is told what came and what it did, and dev takes a run along when it ends',
    judging(WRONG, async ({ begin, get, ended, mine }) => {
      const { id } = await begin({ agentId: mine.id, only: ['sig.missing-all'] })
      const run = await ended(id)
      assert.is(run.outcome, 'bad', run.text)
      const [broken] = run.checks
      assert.is(broken!.verdict, 'fail')
      assert.match(
        broken!.seen.map(({ bytes }) => bytes.join('\n')).join('\n'),
        /^POST .*\n.*content-type: application\/json/is,
      )
      assert.equal(run.causes[0]?.id, 'sig.missing-all')

      const last = await begin({ agentId: mine.id })
      await until('its agent', async () => (await get(last.id)).played > 0, 60)
    }),
  )

test.run()
