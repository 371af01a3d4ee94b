// engines: embedded; process: own
/** The journal of agents that are killed, have no room, or want the same file. */
import fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { agentHandler } from '../../src/client/webhooks.ts'
import { until } from '../support/patience.ts'
import { delivery, marketplace, onStage, type Started, task } from './journal-stage.ts'
import { SECRET, send } from './toolkit.ts'

test(
  'what was answered 200 before a kill is done at the next start, with the same bytes, and once',
  onStage(async stage => {
    let isSilent = true
    const market = await marketplace(() => (isSilent ? null : 200))
    const first = await stage.start()
    assert.is((await send(first.url, task('a', market.url), delivery('dlv_1'))).status, 200)
    await until('its accept', () => market.came.length === 1)
    await first.kill()
    isSilent = false
    const second = await stage.start()
    await until('its deliverable', () => market.came.length === 3)
    assert.equal(market.actions(), ['accept', 'accept', 'deliver'])
    assert.is(market.came[1]!.signature, market.came[0]!.signature, 'the marketplace knows it as the same request')

    // It comes again, to the next process too: by another delivery, and as a retry.
    const again = async ({ url }: Started) => {
      assert.is((await send(url, task('a', market.url), delivery('dlv_2'))).status, 200)
      assert.is((await send(url, { ...task('a', market.url), timestamp: '' }, delivery('dlv_1'))).status, 200)
    }
    await again(second)
    await until('the word that it is done', () => stage.text.includes('"done"'))
    await second.kill()
    const third = await stage.start()
    await again(third)
    await send(third.url, task('b', market.url))
    await until('what is new', () => market.came.length === 5)
    assert.equal(market.actions().slice(3), ['accept', 'deliver'])
    market.close()
  }),
)

test(
  'a full disk: 503 to what has no room, 200 to what has, and all of it is done when there is room again',
  onStage(async stage => {
    const market = await marketplace(() => 200)
    const full = await stage.start('ulimit -f 8;')
    const long = task('long', market.url, { description: 'x'.repeat(20_000) })
    assert.is((await send(full.url, long)).status, 503)
    assert.is((await send(full.url, task('short', market.url))).status, 200)
    await until('the deliverable', () => market.came.length === 2)
    await until('its error', () => full.errors.length > 0)
    assert.match(full.errors[0]!, /^The journal .+ can't be written: /)
    await full.kill()
    const free = await stage.start()
    assert.is((await send(free.url, long)).status, 200)
    // It may have been killed before it had noted that the first was done.
    const delivered = () =>
      new Map(market.came.map(({ action, words, signature }) => [signature, `${action} ${words}`]))
    await until('both deliverables', () => delivered().size === 4)
    assert.equal([...delivered().values()], ['accept ', 'deliver short', 'accept ', 'deliver long'])
    market.close()
  }),
)

test(
  'one agent at a time has it, a removed one is told, and no other file is touched',
  onStage(async stage => {
    const errors: string[] = []
    const agent = await stage.open({ onError: error => errors.push((error as Error).message) })
    const second = () => agentHandler({ secret: SECRET, journal: stage.path, onTask() {} })
    assert.throws(second, /^The journal .+ belongs to another agent of this process\. End that one first/)
    assert.match((await stage.start()).refused, `belongs to process ${process.pid}, which runs. End that one first`)
    assert.is((await send(agent.url, task('a'))).status, 200)
    fs.rmSync(stage.path)
    assert.is((await send(agent.url, task('b'))).status, 503)
    assert.match(errors.at(-1)!, "can't be written: it was closed, removed, or replaced by another process")
    agent.close()

    const other = join(stage.folder, 'package.json')
    fs.writeFileSync(other, '{"name":"agent"}\n')
    assert.throws(
      () => agentHandler({ secret: SECRET, journal: other, onTask() {} }),
      /package\.json is no journal of an agent/,
    )
    assert.is(fs.readFileSync(other, 'utf8'), '{"name":"agent"}\n')
    const nowhere = join(stage.folder, 'nowhere', 'agent.journal')
    assert.throws(
      () => agentHandler({ secret: SECRET, journal: nowhere, onTask() {} }),
      /can't be opened: ENOENT.+in a folder that/,
    )
  }),
)

test(
  'of three processes that want it at once one has it',
  onStage(async stage => {
    const dead = await stage.start()
    await dead.kill()
    const all = await Promise.all(Array.from({ length: 3 }, () => stage.start()))
    assert.is(all.filter(({ url }) => url !== '').length, 1)
    assert.is(all.filter(({ refused }) => /belongs to process \d+, which runs/.test(refused)).length, 2)
  }),
)

test.run()
