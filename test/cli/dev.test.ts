// engines: embedded; process: shared
/** The simulator: what its ready line promises is true, and it keeps what it should. Source. */
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../src/api/records.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { until } from '../support/patience.ts'
import { inFolder, run, runRefused, start, startDev } from './program.ts'

const EPHEMERAL = ['dev', '--ephemeral', '--json', '--port', '0']

test(
  'the ready line of a fresh dev names accounts that work and an agent that can be hired at once',
  inFolder(async folder => {
    const { child, ended, firstLine } = start(EPHEMERAL, folder)
    const ready = JSON.parse(await firstLine)
    assert.is(ready.type, 'ready')
    assert.is(ready.mode, 'dev')
    assert.is(ready.pid, child.pid)
    assert.equal(Object.keys(ready.accounts), ['buyer', 'builder', 'admin'])
    const agent = ready.agents[0]
    assert.equal(Object.keys(agent), ['id', 'slug', 'webhookUrl', 'webhookSecret'])
    assert.match(agent.webhookSecret, /^whsec_/)

    for (const { email, password } of Object.values<{ email: string; password: string }>(ready.accounts)) {
      await new HttpUser(ready.url).call('POST', '/api/auth/login', { email, password })
    }
    const buyer = new HttpUser(ready.url)
    buyer.key = ready.accounts.buyer.apiKey
    const task = {
      agentId: agent.id,
      title: 'Try it out',
      description: 'Something that is long enough.',
      agreedPrice: 500,
    }
    const { id } = await buyer.call<TaskRecord>('POST', '/api/tasks', task, 'key')
    await buyer.call('POST', `/api/tasks/${id}/submit`, undefined, 'key')
    await delivered(buyer, id)

    child.kill('SIGTERM')
    const { code, out, err } = await ended
    assert.is(code, 0, err)
    const types = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).type)
    for (const type of ['request', 'webhook', 'callback', 'money']) assert.ok(types.includes(type), `no ${type} line`)
    assert.not(existsSync(join(folder, '.marketplace')))
  }),
)

function delivered(buyer: HttpUser, id: string): Promise<void> {
  const task = () => buyer.call<TaskRecord>('GET', `/api/tasks/${id}`, undefined, 'key')
  return until('the delivery', async () => (await task()).status === 'delivered', 25)
}

test(
  'accounts, keys and the webhook secret stay the same over a restart, and a seed comes too late then',
  inFolder(async folder => {
    const readies = []
    for (let round = 0; round < 2; round++) {
      const { ready, stop } = await startDev(folder)
      readies.push({
        accounts: ready.accounts,
        agents: ready.agents.map((agent: object) => ({ ...agent, webhookUrl: '' })),
      })
      const public_ = await new HttpUser(ready.url).call<{ items: { slug: string }[] }>('GET', '/api/agents')
      assert.ok(public_.items.some(({ slug }) => slug === 'sample-agent'))
      assert.is((await stop()).code, 0)
    }
    assert.equal(readies[0], readies[1])
    assert.is(statSync(join(folder, '.marketplace', 'credentials.json')).mode & 0o777, 0o600)
    const { code, err } = await runRefused(['dev', '--json', '--port', '0', '--seed', '1'], folder)
    assert.is(code, 1)
    assert.match(err, 'needs an empty database')
  }),
)

test(
  'the same seed gives the same ids, keys and secrets',
  inFolder(async folder => {
    const readies = []
    for (let round = 0; round < 2; round++) {
      const { ready, stop } = await startDev(folder, {}, ['--ephemeral', '--seed', '7'])
      const ids = ready.agents.map(({ id, webhookSecret }: Record<string, string>) => [id, webhookSecret])
      readies.push({ accounts: ready.accounts, ids })
      await stop()
    }
    assert.equal(readies[0], readies[1])
  }),
)

test(
  'dev says in three lines where it is, where its console is and what can be hired, without colours where there is no terminal; all keys are shown when asked for',
  inFolder(async folder => {
    assert.match((await runRefused(['dev', '--show-keys'], folder)).err, 'There is no dev in this folder yet.')
    const { child, ended, firstLine } = start(['dev', '--port', '0', '--persona', 'easy'], folder, {
      MARKETPLACE_BASE_ULR: 'x',
    })
    let shown = ''
    const isAlive = new Promise<void>(resolve => {
      child.stdout!.on('data', text => {
        shown += text
        if (shown.includes('easy hires sample-agent')) resolve()
      })
    })
    assert.match(await firstLine, /^At http:\/\/127\.0\.0\.1:\d+ \(all keys: marketplace dev --show-keys\)$/)
    await isAlive
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(shown)![0]
    assert.is((await new HttpUser(url).ask('GET', '/api/agents/nobody')).status, 404)
    while (!shown.includes('agents show --help')) await once(child.stdout!, 'data')
    const kept = JSON.parse((await run(['dev', '--show-keys', '--json'], folder)).out)
    child.kill('SIGINT')
    const { code, out } = await ended
    assert.is(code, 0)
    const [, pages, hire, first = ''] = out.split('\n')
    assert.is(pages, `See it all in a browser: ${url}/console`)
    assert.is(hire, 'Hire sample-agent: marketplace simulate buyer sample-agent')
    assert.match(first, /^\d\d:\d\d:\d\d {2}/)
    assert.match(
      out,
      '  ! MARKETPLACE_BASE_ULR is no setting, so it does nothing. Did you mean MARKETPLACE_BASE_URL?\n',
    )
    assert.not.match(out, 'world → ', 'how dev furnishes itself')
    assert.not(out.includes('\u001b'))
    for (const secret of ['svc_', 'whsec_', 'password ']) assert.not(out.includes(secret), secret)
    const keys = (await run(['dev', '--show-keys'], folder)).out
    const own = 'Your own agent in its place, on any port, in any language:\n  marketplace dev --forward-to http'
    const { accounts, agents } = kept
    const wanted = [accounts.buyer.email, accounts.admin.password, accounts.builder.apiKey, agents[0].webhookSecret]
    for (const words of [...wanted, `curl ${url}/api/tasks`, `${url}/docs`, own]) assert.ok(keys.includes(words), words)
    assert.match((await runRefused(['dev', '--ephemeral', '--show-keys'], folder)).err, '--ephemeral keeps nothing')
  }),
)

test(
  'agents that are down on purpose, and what doctor asks, leave the log to the agents of the user',
  inFolder(async folder => {
    const { child, ended } = start(['dev', '--port', '0'], folder)
    let shown = ''
    child.stdout!.on('data', text => {
      shown += text
    })
    const told = (words: string) => until(words, () => shown.includes(words))
    await told('Hire sample-agent: ')
    assert.is((await run(['clock', 'advance', '9h'], folder)).code, 0)
    await run(['doctor'], folder)
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(shown)![0]
    await new HttpUser(url).ask('GET', '/api/agents/nobody')
    await told('/api/agents/nobody')
    child.kill('SIGINT')
    const { code, out } = await ended
    assert.is(code, 0)
    const log = out.slice(out.indexOf('Hire sample-agent: '))
    for (const name of ['silent-translator', 'silent-analyst'])
      assert.is(log.split(name).length, 2, `one line about ${name}:\n${log}`)
    for (const words of ['✖', '✉', 'healthz', 'openapi']) assert.not.match(log, words)
    assert.match(log, /connection test passed {2}sample-agent/)
  }),
)

test.run()
