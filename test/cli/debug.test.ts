// engines: embedded; process: own; lengths: long
/** Log levels and debug lines of the built program: what they tell, what they never tell, and that off is off. Source: A-231. */
import { hasSubscribers } from 'node:diagnostics_channel'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openMarketplace } from '../../src/open/open.ts'
import { until } from '../support/patience.ts'
import { inFolder, run, runRefused, start } from './program.ts'

interface Line extends Record<string, unknown> {
  type: string
  topic: string
}

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))

/** A dev that is told to watch, after a whole life of a task and a refused sign-in. */
async function watchedLife(folder: string, env: NodeJS.ProcessEnv, json = true) {
  const { child, ended, firstLine } = start(['dev', '--port', '0', ...(json ? ['--json'] : [])], folder, env)
  let seen = ''
  child.stdout.on('data', chunk => (seen += chunk))
  const first = await firstLine
  const url = json ? JSON.parse(first).url : /http:\S+/.exec(first)![0]
  const words = ['--title', 'A title nobody may log', '--description', 'A description that nobody may log either.']
  const bought = await run(['simulate', 'buyer', 'sample-agent', ...words], folder)
  assert.is(bought.code, 0, bought.err)
  const body = JSON.stringify({ email: 'buyer@example.com', password: 'a wrong password' })
  const headers = { 'content-type': 'application/json' }
  assert.is((await fetch(`${url}/api/auth/login?token=in-the-query`, { method: 'POST', headers, body })).status, 401)
  // The buyer has approved, and waits for no webhook.
  await until('the last webhook', () => seen.includes('task.approved'))
  child.kill('SIGTERM')
  return { first, ...(await ended) }
}

test(
  'each topic tells of its own: requests, units with their statements, attempts with address and connection',
  inFolder(async folder => {
    const { first: ready, out, err } = await watchedLife(folder, { MARKETPLACE_DEBUG: 'http, sql,webhooks' })
    const lines = linesOf(err)
    const of = (topic: string) => lines.filter(line => line.topic === topic)
    assert.ok(lines.every(({ type, level, time }) => type === 'debug' && level === 'debug' && Boolean(time)))
    assert.is(lines.length, of('http').length + of('sql').length + of('webhooks').length)

    const refused = of('http').find(({ route }) => route === '/api/auth/login')!
    assert.is(refused.refusal, 'wrong_login')
    assert.is(refused.status, 401)
    assert.is(refused.credential, 'none')
    assert.ok(out.includes(String(refused.requestId)), 'the line leads to the log')
    const accepted = of('http').find(({ route }) => String(route).endsWith('/callback'))!
    assert.is(accepted.credential, 'signature')
    assert.type(accepted.ms, 'number')

    const units = of('sql') as (Line & { statements: { sql: string; ms: number }[] })[]
    assert.equal([...new Set(units.map(({ unit }) => unit))].sort(), ['migrate', 'read', 'write'])
    const submit = units.find(({ statements }) => statements.some(({ sql }) => sql.includes('INTO transfers')))!
    assert.is(submit.outcome, 'done')
    assert.ok(submit.statements.length > 2 && submit.statements.every(({ ms }) => ms >= 0))

    const [first, ...later] = of('webhooks')
    assert.is(first!.connection, 'new')
    assert.ok((first!.dns as { addresses: string[] }).addresses.includes('127.0.0.1'))
    // On a busy machine the first two are so far apart that the connection was closed between them.
    assert.ok(later.some(({ connection }) => connection === 'kept'))
    // The test of the sample agent is in no log of deliveries, and comes before or among them.
    const [submitted, ...more] = of('webhooks').filter(({ deliveryId }) => out.includes(String(deliveryId)))
    assert.match(String(submitted!.address), /^127\.0\.0\.1:\d+$/)
    assert.match(String(submitted!.to), /^https:\/\/sample-agent\.localhost:\d+$/)
    assert.is(submitted!.status, 200)
    assert.ok(more.length > 0, 'the lines lead to the log')

    const { accounts, agents } = JSON.parse(ready)
    const secrets = [...Object.values<{ password: string; apiKey: string }>(accounts), ...agents].flatMap(
      ({ password, apiKey, webhookSecret }) => [password, apiKey, webhookSecret].filter(Boolean),
    )
    assert.is(secrets.length, 7)
    for (const secret of [...secrets, 'nobody may log', 'a wrong password', 'in-the-query', 'whsec_', 'svc_'])
      assert.not.ok(err.includes(secret), secret)
    assert.not.match(err, /[0-9a-f]{64}/)
  }),
)

test(
  'people get the lines as words, of the topics that they named alone; the log stays where it was',
  inFolder(async folder => {
    const { err, out } = await watchedLife(folder, { MARKETPLACE_DEBUG: 'webhooks' }, false)
    const lines = err.trim().split('\n')
    assert.ok(lines.length >= 3)
    for (const line of lines) assert.match(line, /^\d\d:\d\d:\d\d webhooks deliveryId=dlv_\w+ attempt=1 to=https:/)
    assert.match(out, '→ task.submitted')
  }),
)

test(
  'a level tells what is at least as grave; debug turns every topic on, on stderr also beside a log on stdout',
  inFolder(async folder => {
    const told = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
      const { child, ended, firstLine } = start(['serve', '--port', '0', '--json', ...args], folder, env)
      const { url } = JSON.parse(await firstLine)
      assert.is((await fetch(`${url}/api/agents`)).status, 200)
      child.kill('SIGTERM')
      const { out, err } = await ended
      const types = new Set(linesOf(out).map(({ type }) => type))
      return { types, topics: [...new Set(linesOf(err).map(({ topic }) => topic))].sort() }
    }
    const usual = await told([])
    assert.ok(usual.types.has('start') && usual.types.has('request') && usual.types.has('warning'))
    assert.equal(usual.topics, [])
    const warn = await told(['--log-level', 'warn'])
    assert.equal([...warn.types].sort(), ['ready', 'warning'])
    const error = await told([], { MARKETPLACE_LOG_LEVEL: 'error', MARKETPLACE_DEBUG: 'http' })
    assert.equal([...error.types], ['ready'])
    assert.equal(error.topics, ['http'])
    const debug = await told(['--log-level', 'debug'])
    assert.ok(debug.types.has('start'))
    assert.equal(debug.topics, ['http', 'sql'])
    const dev = start(['dev', '--port', '0', '--json', '--ephemeral', '--log-level', 'error'], folder)
    await dev.firstLine
    dev.child.kill('SIGTERM')
    assert.is((await dev.ended).out.trim().split('\n').length, 1)
  }),
)

test(
  'a topic or a level that is none is refused with those that are, before anything is done',
  inFolder(async folder => {
    const topic = await run(['db', 'migrate', 'a.db'], folder, { MARKETPLACE_DEBUG: 'webhooks,sqll' })
    assert.is(topic.code, 2)
    assert.is(
      topic.err,
      'MARKETPLACE_DEBUG takes http, sql, webhooks or stacks, several with commas between, not sqll.\n',
    )
    assert.is(topic.out, '')
    const level = await runRefused(['dev', '--ephemeral', '--log-level', 'loud'], folder)
    assert.is(level.code, 2)
    assert.match(level.err, '--log-level takes error or warn or info or debug, not loud.')
  }),
)

test('where no topic is named nothing is watched: no listener, no wrapped transaction, no line', async () => {
  const SENT = 'undici:client:sendHeaders'
  const plain = await openMarketplace({ mode: 'dev', file: null })
  assert.not.ok(hasSubscribers(SENT))
  const transaction = ({ market }: typeof plain) => market.db.write(async tx => tx.constructor.name)
  assert.is(await transaction(plain), 'Unit')
  await plain.close()
  const lines: object[] = []
  const debug = { sql: (line: object) => void lines.push(line), webhooks: (line: object) => void lines.push(line) }
  const watched = await openMarketplace({ mode: 'dev', file: null, debug })
  assert.ok(hasSubscribers(SENT))
  assert.is.not(await transaction(watched), 'Unit')
  assert.ok(lines.length > 0)
  await watched.close()
  assert.not.ok(hasSubscribers(SENT))
})

test.run()
