// engines: embedded; process: own; lengths: long
/** `marketplace conformance --agent`: an agent that a deployment lists is looked at from outside. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { createClient } from '../../src/client/typed-client.ts'
import type { Report } from '../../src/conform/judging/report.ts'
import { blocksOf } from '../docs/guide.ts'
import { type Bug, openDeployment, PRICE } from './listed-deployment.ts'
import { run, start } from './program.ts'

const test = suite('conformance --agent')

let folder: string
let market: Awaited<ReturnType<typeof openDeployment>>

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-listed-'))
  market = await openDeployment()
})

test.after(async () => {
  await market.close()
  rmSync(folder, { recursive: true, force: true })
})

/** By the key of an account. */
const judge = (account: { apiKey: string }, agent: string, ...args: string[]) =>
  run(['conformance', '--agent', agent, ...args], folder, {
    MARKETPLACE_URL: market.url,
    MARKETPLACE_KEY: account.apiKey,
  })

async function judged(account: { apiKey: string }, agent: string, ...args: string[]) {
  const { code, out, err } = await judge(account, agent, '--json', ...args)
  let report: Report
  try {
    report = JSON.parse(out)
  } catch {
    throw new Error(`${code} ${out} ${err}`)
  }
  const verdicts = Object.fromEntries(
    report.checks.map(({ id, verdict, text }) => [id, text ? `${verdict}: ${text}` : verdict]),
  )
  const those = (verdict: string) => report.checks.filter(check => check.verdict === verdict).map(({ id }) => id)
  return { code, err, report, verdicts, those }
}

test('its builder tests a right agent for nothing; all else is untested, with the reason, and breaks nothing', async () => {
  await market.startAgent('right', 'none')
  const { code, report, verdicts, those } = await judged(market.builder, 'right')
  assert.is(code, exitCodes.ok)
  assert.equal(those('fail').concat(those('warn'), those('inconclusive')), [])
  assert.equal(those('pass').sort(), [
    'conn.callback-arrives',
    'conn.callback-signature',
    'conn.endpoint-200',
    'conn.price-zero',
    'conn.test-twice',
  ])
  assert.match(verdicts['life.accepts']!, 'a task is needed, which costs its price: --spend')
  assert.match(verdicts['sig.wrong-secret']!, 'from outside it can’t be seen')
  assert.is(report.bought, null)
  assert.equal(report.agent.listed?.slug, 'right')
})

test('with money it is hired, and nothing stays open', async () => {
  const before = await market.balanceOf(market.builder)
  const { code, report, verdicts, those, err } = await judged(market.builder, 'right', '--spend', '50.00')
  assert.is(code, exitCodes.ok, JSON.stringify(verdicts, null, 1))
  assert.equal(those('fail').concat(those('warn'), those('inconclusive')), [], JSON.stringify(verdicts, null, 1))
  for (const id of ['life.decides', 'life.accepts', 'life.delivers', 'life.revision', 'life.revision-differs'])
    assert.is(verdicts[id], 'pass', id)
  for (const id of ['dup.not-by-content', 'safe.secret', 'safe.no-stack', 'sig.valid', 'http.ack-prompt', 'rel.alive'])
    assert.is(verdicts[id], 'pass', id)
  assert.match(verdicts['http.ack']!, /^untested: .*what was seen is right$/)
  assert.match(err, 'Buys 4 of 4 tasks from right, for 7.00 each: 28.00 at most, of 200.00 in the wallet.')
  const { limit, spent, held, tasks } = report.bought!
  assert.is(limit, 4 * PRICE)
  assert.is(held, 0)
  assert.is(tasks.length, 4)
  const paid = tasks.filter(({ status }) => status === 'completed').length
  assert.is(paid + tasks.filter(({ status }) => status === 'cancelled').length, 4)
  // The one that is cancelled may have been done by then.
  assert.ok(paid >= 3)
  assert.is(spent, paid * PRICE)
  // The account has paid itself.
  assert.equal(await market.balanceOf(market.builder), before)
  assert.match(err, `Spent ${(spent / 100).toFixed(2)} of 28.00 at most.`)
})

test('a buyer sees of another builder’s agent what any buyer does, by a session of a profile too', async () => {
  const payer = await market.newBuyer()
  const login = ['login', '--url', market.url, '--email', payer.email, '--password-stdin', '--profile', 'payer']
  assert.is((await run(login, folder, {}, `${payer.password}\n`)).code, 0)
  const args = ['conformance', '--agent', 'right', '--profile', 'payer', '--spend', '7.00', '--save-history', 'h.jsonl']
  const { code, out, err } = await run(args, folder)
  assert.is(code, exitCodes.ok, out + err)
  assert.match(out, /· conn\.endpoint-200 .*: the agent is another builder’s/)
  assert.match(out, /dup\.not-by-content.*: what --spend allows does not suffice for 2 more tasks/)
  assert.match(err, 'Buys 1 of 4 tasks from right, for 7.00 each: 7.00 at most, of 100.00 in the wallet.')
  assert.equal((await market.balanceOf(payer)).balance, 10_000 - PRICE)
  assert.match(err, 'Spent 7.00 of 7.00 at most.\n')
  assert.match(err, /task_\S+ {2}first-task {2}completed {2}7\.00/)
  const again = await run(['conformance', '--history', 'h.jsonl', '--json'], folder)
  assert.is(again.code, exitCodes.ok, again.err)
  assert.is((JSON.parse(again.out) as Report).checks.find(({ id }) => id === 'life.accepts')!.verdict, 'pass')
})

const bugs: readonly [bug: Bug, args: readonly string[], broken: readonly string[]][] = [
  ['deaf', [], ['conn.endpoint-200']],
  ['202', ['--spend', '7.00'], ['http.ack-200']],
  ['no revisions', ['--spend', '7.00'], ['life.revision']],
  ['same again', ['--spend', '7.00'], ['life.revision-differs']],
  ['never decides', ['--spend', '7.00'], ['life.decides']],
  ['never delivers', ['--spend', '7.00'], ['life.delivers']],
  ['by content', ['--spend', '50.00'], ['dup.not-by-content']],
  ['leaks', ['--spend', '7.00'], ['safe.secret']],
  ['mute', ['--spend', '50.00'], ['life.reject-reason']],
]

for (const [bug, args, broken] of bugs) {
  test(`a broken agent is seen: ${bug}`, async () => {
    const name = `broken-${bug.replaceAll(' ', '-')}`
    await market.startAgent(name, bug)
    const config = join(folder, `${name}.yaml`)
    writeFileSync(
      config,
      `patience: { answer: 2s, work: 2s }
vary: ${bug !== 'by content'}
rejects: [{ title: Not this please, description: A task that such an agent does not take. }]
`,
    )
    const owner =
      bug === 'by content' || bug === 'mute' || bug === 'never decides' ? await market.newBuyer() : market.builder
    const { code, those, verdicts, report } = await judged(owner, name, ...args, '--strict', '--config', config)
    assert.is(code, exitCodes.check, JSON.stringify(verdicts, null, 1))
    assert.equal(those('fail').concat(those('warn')), broken, JSON.stringify(verdicts, null, 1))
    if (bug === 'never decides') assert.is(report.bought!.tasks[0]!.status, 'cancelled')
    if (bug === 'never delivers') {
      assert.equal([report.bought!.held, report.bought!.tasks[0]!.status], [PRICE, 'in_progress'])
    }
  })
}

test('only what the chosen checks need is bought', async () => {
  const payer = await market.newBuyer()
  const { report, err } = await judged(payer, 'right', '--spend', '50.00', '--only', 'conn.endpoint-200')
  assert.equal(report.bought?.tasks, [])
  assert.match(err, 'None of these checks needs a task: nothing is bought.')
})

test('Ctrl-C ends what can be ended, and says what stays open', async () => {
  await market.startAgent('slow', 'never delivers')
  const payer = await market.newBuyer()
  const { child, ended } = start(['conformance', '--agent', 'slow', '--spend', '7.00', '--only', 'life'], folder, {
    MARKETPLACE_URL: market.url,
    MARKETPLACE_KEY: payer.apiKey,
  })
  const client = createClient({ baseUrl: market.url, apiKey: payer.apiKey })
  for (;;) {
    const { tasks } = await client.listTasks({ role: 'buyer' })
    if (tasks[0]?.status === 'in_progress') break
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  child.kill('SIGINT')
  const { code, err } = await ended
  assert.is(code, exitCodes.interrupted, err)
  assert.match(err, /Spent 0\.00 of 7\.00 at most, 7\.00 still held\./)
  assert.match(err, /Task task_\S+ is in_progress, and 7\.00 stays held: marketplace tasks show task_/)
})

test('a line of the baseline about what can’t be seen from outside does not break the run', async () => {
  writeFileSync(join(folder, 'b.yaml'), 'sig.stale-day: { verdict: fail, why: known }\n')
  assert.is((await judge(market.builder, 'right', '--baseline', 'b.yaml')).code, exitCodes.ok)
  writeFileSync(join(folder, 'b.yaml'), 'conn.endpoint-200: { verdict: fail, why: known }\n')
  assert.is((await judge(market.builder, 'right', '--baseline', 'b.yaml')).code, exitCodes.check)
})

test('each refusal says what, why and what to do', async () => {
  const poor = await market.newBuyer(PRICE - 100)
  const told = async (account: { apiKey: string }, ...args: string[]) => {
    const { code, out, err } = await run(['conformance', ...args], folder, {
      MARKETPLACE_URL: market.url,
      ...(account.apiKey && { MARKETPLACE_KEY: account.apiKey }),
    })
    return `${code} ${out}${err}`
  }
  const nobody = { apiKey: '' }
  assert.match(
    await told(nobody, '--agent', 'right'),
    /^4 You are not signed in to .*\nSign in: marketplace login --url/,
  )
  assert.match(
    await told({ apiKey: 'svc_unknown' }, '--agent', 'right'),
    /^4 .*\nThe marketplace does not know the key/s,
  )
  assert.match(await told(market.builder, '--agent', 'nobody'), /^1 There is no agent nobody for this key/)
  assert.match(await told(poor, '--agent', 'right'), /^4 right is another builder’s agent.*--spend 7\.00/s)
  assert.match(
    await told(poor, '--agent', 'right', '--spend', '7.00'),
    /^1 The wallet has 6\.00, and a task of right costs 7\.00\.\nDeposit first: marketplace wallet deposit 1\.00/,
  )
  assert.match(
    await told(market.builder, '--agent', 'right', '--spend', '5.00'),
    /^2 --spend 5\.00 buys nothing: right costs 7\.00/,
  )
  assert.match(
    await told(market.builder, '--agent', 'right', '--spend', 'all'),
    /^2 --spend takes an amount with two decimals, like 5\.00, not all\./,
  )
  assert.match(await told(market.builder, '--agent', 'right', '--start', 'x'), /^2 --start plays a marketplace/)
  assert.match(await told(market.builder, '--agent', 'right', '--requirements', '2026-12'), /^2 --requirements asks/)
  assert.match(await told(market.builder, '--spend', '5.00'), /^2 --spend goes with --agent/)
  const away = await run(['conformance', '--agent', 'right', '--url', 'http://127.0.0.1:9', '--key', 'svc_x'], folder)
  assert.is(away.code, exitCodes.network, away.err)
  assert.equal((await market.balanceOf(poor)).balance, PRICE - 100)
})

test('what the guide shows works as it is printed', async () => {
  await market.startAgent('my-agent', 'none')
  const login = ['login', '--url', market.url, '--email', market.builder.email, '--password-stdin', '--profile', 'work']
  assert.is((await run(login, folder, {}, `${market.builder.password}\n`)).code, 0)
  const { code: lines } = blocksOf('docs/guides/ci.md').find(({ name }) => name === 'listed')!
  for (const line of lines.trim().split('\n')) {
    const args = line.replace('npx agent-marketplace ', '').split(' ')
    const { code, out, err } = await run(args, folder, {
      MARKETPLACE_URL: market.url,
      MARKETPLACE_KEY: market.builder.apiKey,
    })
    assert.is(code, exitCodes.ok, `${line}: ${out}${err}`)
  }
})

test('every report is made of such a run too', async () => {
  const names = ['ctrf', 'junit', 'tap', 'sarif', 'html', 'badge', 'json']
  const { code, err } = await judge(market.builder, 'right', '--report', ...names.map(name => `${name}=out.${name}`))
  assert.is(code, exitCodes.ok, err)
  assert.match(readFileSync(join(folder, 'out.html'), 'utf8'), 'right at http://127.0.0.1')
})

test.run()
