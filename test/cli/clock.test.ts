// engines: embedded; process: shared
/** The clock of a simulator from the command line. Source: A-233. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durationGiven, durationInWords } from '../../src/cli/output/numbers.ts'
import { answered } from '../../src/world/virtual.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'
import { answerOf, inFolder, run, startDev } from './program.ts'

test('durations are typed and read as people do', () => {
  const cases = { '90s': 90_000, '15m': 900_000, '48h': 172_800_000, '7d': 604_800_000, '1h30m': 5_400_000 }
  for (const [text, ms] of Object.entries({ ...cases, '250ms': 250, '1.5h': 5_400_000 })) {
    assert.is(durationGiven(text), ms, text)
  }
  for (const text of ['', '5', 'h', '-5m', '5 m', '5min', '1h x', '2w']) {
    assert.throws(() => durationGiven(text), /written like 90s, 15m, 48h, 7d or 1h30m/, text)
  }
  const words = { 250: '250 ms', 5000: '5 s', 900000: '15 min', 5400000: '1 h 30 min', 187200000: '2 d 4 h' }
  for (const [ms, text] of Object.entries(words)) assert.is(durationInWords(Number(ms)), text)
})

const lines = (out: string) => out.trimEnd().split('\n')

test(
  'clock: shows what is next, goes there, prints what happens on the way, and runs fast',
  inFolder(async folder => {
    const dev = await startDev(folder)
    const shown = await run(['clock', 'show'], folder)
    assert.match(shown.out, /^now +\d{4}-.*Z\nahead of real time +-\nruns +as fast as real time\ndue next +heartbeat/)

    const next = await run(['clock', 'next'], folder)
    assert.is(next.code, 0, next.err)
    assert.match(next.err, /^Next: heartbeat tests agents at \d{4}-.*00\.000Z$/m)
    assert.match(next.out, /^\+.* heartbeat tests agents\nNow .*Z, .* ahead of real time\.\n$/)

    const moved = await run(['clock', 'advance', '9h'], folder)
    assert.is(moved.code, 0, moved.err)
    assert.match(moved.out, /^\+[34] h.* heartbeat tests agents\n\+[78] h.* heartbeat tests agents\nNow /)

    const json = await run(['clock', 'advance', '4h', '--json'], folder)
    const [due, end] = lines(json.out).map(line => JSON.parse(line))
    assert.is(due.kind, 'heartbeat')
    assert.is(Date.parse(due.at) % 14_400_000, 0)
    assert.is(end.success, true)
    assert.is(end.data.fellDue, 1)
    const jumped = await run(['clock', 'advance', '2d', '--jump'], folder)
    assert.match(jumped.out, /^Now .*Z, 2 d/)

    assert.is((await answerOf(['clock', 'scale', '3600'], folder)).data.scale, 3_600)
    assert.match((await run(['clock', 'show'], folder)).out, /^runs +3600 times as fast as real time$/m)
    assert.match((await run(['clock', 'scale', '1'], folder)).out, /as fast as real time\.$/m)

    for (const [words, why] of [
      [['advance', 'soon'], 'A duration is written like 90s, 15m, 48h, 7d or 1h30m, not soon.'],
      [['scale', '0'], 'The scale takes a whole number from 1 to 10000, not 0.'],
    ] as const) {
      const { code, err } = await run(['clock', ...words], folder)
      assert.is(code, 2)
      assert.match(err, why)
    }
    await dev.stop()
  }),
)

test(
  'dev --clock-scale runs fast from the start',
  inFolder(async folder => {
    const dev = await startDev(folder, {}, ['--ephemeral', '--clock-scale', '60', '--retries', 'real'])
    const { url, accounts } = dev.ready
    const shown = await answerOf(['clock', 'show', '--url', url, '--key', accounts.admin.apiKey], folder)
    assert.is(shown.data.scale, 60)
    assert.is((await dev.stop()).code, 0)
  }),
)

test(
  'clock: a deployment runs on real time, which is said in a sentence',
  inFolder(async folder => {
    const marketplace = await openTestMarketplace({ mode: 'serve', rateLimits: 'off', payments: 'sandbox' })
    for (const words of [['show'], ['next'], ['advance', '48h'], ['scale', '60']]) {
      const { code, err } = await run(
        ['clock', ...words, '--url', marketplace.url, '--key', marketplace.admin.key!],
        folder,
      )
      assert.is(code, 1)
      assert.match(err, `${marketplace.url} runs on real time: only the clock of a simulator can be moved.`)
      assert.match(err, 'Start a simulator: marketplace dev')
    }
    await marketplace.close()
  }),
)

test(
  'clock advance --wait: agents that work after their 200 are waited for at each moment, and one that is not done is named',
  inFolder(async folder => {
    const marketplace = await openTestMarketplace()
    const { admin, url } = marketplace
    await marketplace.stopHeartbeat()
    const buyer = await marketplace.join('buyer', 100_000)
    const agent = await marketplace.list(await marketplace.join('builder'), {}, marketplace.sink())
    const work = async (taskId: string) => {
      const begun = marketplace.world.now()
      await until('the move of the clock', () => marketplace.world.now() >= begun + 60_000)
      for (const body of [{ action: 'accept' }, { action: 'deliver', content: 'Here it is' }]) {
        await new Promise(resolve => setTimeout(resolve, 300))
        await marketplace.callback(agent, taskId, body)
      }
    }
    let isSlow = true
    agent.sink.answer = () => {
      const { event, data } = agent.sink.received.at(-1)!
      if (event === 'task.submitted' && isSlow) void work(data.taskId)
      return answered(200)
    }
    const hire = async () => {
      const { id } = await marketplace.draft(buyer, agent)
      await buyer.call('POST', `/api/tasks/${id}/submit`)
      await marketplace.market.settled()
      return id
    }
    const advance = (...more: string[]) =>
      run(['clock', 'advance', '1m', ...more, '--url', url, '--key', admin.key!], folder)

    const first = await hire()
    const done = await advance('--wait', '2m')
    assert.is(done.code, 0, done.err)
    const { status, deliveredAt } = await admin.client.getTask({ id: first })
    assert.is(status, 'delivered')
    assert.ok(done.out.includes(`Now ${deliveredAt!.slice(0, 16)}`), 'the clock stood still meanwhile')

    isSlow = false
    const second = await hire()
    const stuck = await advance('--wait', '200ms')
    assert.is(stuck.code, 1)
    assert.match(stuck.err, `Still with their agents after 200 ms: ${second} of ${agent.id}. The clock stands at 20`)
    assert.match(stuck.err, `deliveries list ${agent.id}`)
    assert.is((await advance()).code, 0, 'nobody waits for it unless that is asked for')
    assert.is((await advance('--wait', 'long')).code, 2)
    await buyer.call('POST', `/api/tasks/${second}/cancel`)
    assert.is((await advance('--wait', '200ms')).code, 0)
    await marketplace.close()
  }),
)

test.run()
