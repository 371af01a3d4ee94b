// engines: embedded; process: shared; lengths: short, long
/** dev in front of agents that know nothing of it: they are listed by themselves, and nothing is lost while they are away. */
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { isLong } from '../support/length.ts'
import { delivered, devOf, hire } from './dev-lines.ts'
import { answerOf, inFolder, run } from './program.ts'

/** Answers 200 and knows nothing. */
async function plainAgent(port: number, got: IncomingMessage[]): Promise<Server> {
  const server = createServer((request, response) => {
    got.push(request)
    request.resume().on('end', () => response.end())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function closed(server: Server): Promise<unknown> {
  server.closeAllConnections()
  return new Promise(resolve => server.close(resolve))
}

/**
 * A folder whose front has a port of its own, as if a dev had run there: the usual one is of whichever dev of this machine comes
 * first, and webhook URLs change when it is another's at the next start.
 */
async function keepFrontPort(folder: string): Promise<number> {
  const frontPort = await freePort()
  const nobody = { apiKey: '' }
  const accounts = { buyer: nobody, builder: nobody, admin: nobody }
  mkdirSync(join(folder, '.marketplace'))
  const kept = { url: 'http://127.0.0.1:1', db: '.marketplace/dev.db', instance: 'x', accounts, agents: [], frontPort }
  writeFileSync(join(folder, '.marketplace', 'credentials.json'), JSON.stringify(kept))
  return frontPort
}

test(
  'an agent that is down at the start is listed once it is up; its webhooks wait while it is away; all stays over a restart',
  inFolder(async folder => {
    const frontPort = await keepFrontPort(folder)
    const port = await freePort()
    const got: IncomingMessage[] = []
    const given = ['--forward-to', `localhost:${port}/hook?x=1`]
    let dev = await devOf(folder, given)
    const [sample, mine] = dev.ready.agents
    assert.is(sample!.slug, 'sample-agent')
    assert.equal(Object.keys(mine!), ['id', 'slug', 'webhookUrl', 'webhookSecret', 'forwardTo'])
    assert.is(mine!.forwardTo, `http://localhost:${port}/hook?x=1`)
    assert.is(mine!.webhookUrl, `https://my-agent.localhost:${frontPort}/webhook`)
    await dev.said(
      new RegExp(`^Nothing listens at http://localhost:${port} yet. my-agent is tested as soon as it is up`),
    )
    let agent = await plainAgent(port, got)
    await dev.said(/^my-agent can be hired \(it sent no callback yet\): marketplace simulate buyer my-agent$/)
    assert.is(got[0]!.url, '/hook?x=1')
    assert.is(got[0]!.headers.host, `localhost:${port}`)
    await dev.until('the first webhook', delivered(await hire(dev, mine!.id)))

    await closed(agent)
    const lost = await hire(dev, mine!.id)
    await dev.said(/^my-agent is down: .* Its webhooks wait until it is back/)
    // Not an answer of the agent, although something has answered on its way.
    const unsent = await dev.until('the attempt', ({ type, taskId }) => type === 'webhook' && taskId === lost)
    assert.equal([unsent.status, unsent.reason], [null, 'refused'])
    assert.is(unsent.message, `Nothing listens at http://localhost:${port}.`)
    const before = dev.seen()
    agent = await plainAgent(port, got)
    const late = await dev.until('the webhook that waited', delivered(lost), before)
    assert.is(late.attempt, 2)
    await dev.said(/^my-agent is back/)

    const fields = ['--tagline', 'Never tested here', '--base-price', '5.00', '--category', 'writing']
    const text = ['--name', 'Plain Two', '--description', 'An agent whose address is not https and so fails its test.']
    const plain = [...fields, ...text, '--webhook-url', `http://localhost:${port}/`]
    const made = await run(['agents', 'create', ...plain], folder)
    assert.match(made.err, `marketplace dev --agent plain-two=http://localhost:${port}/`)

    const changed = await answerOf(['secret', 'rotate', 'my-agent', '--yes'], folder)
    await dev.said(/^my-agent has a new secret, so it is tested once it has been restarted with that/)
    const rotated = dev.seen()
    await answerOf(['secret', 'rotate', 'sample-agent', '--yes'], folder)
    await dev.until('the test of the sample agent', ({ type, check }) => type === 'check' && check === 5, rotated)
    await dev.stop()
    dev = await devOf(folder, given)
    const [sampleAgain, mineAgain] = dev.ready.agents
    assert.equal(mineAgain, { ...mine, webhookSecret: changed.data.secret })
    assert.is(sampleAgain!.webhookUrl, sample!.webhookUrl)
    assert.is.not(sampleAgain!.webhookSecret, sample!.webhookSecret)
    await dev.said(/^my-agent can be hired/)
    await hire(dev, sampleAgain!.id)
    await dev.stop()
    await closed(agent)
  }),
)

if (isLong)
  test(
    'what waits for an agent is sent once when it comes up, and by its schedule if the agent refuses it',
    inFolder(async folder => {
      await keepFrontPort(folder)
      const port = await freePort()
      const given = ['--forward-to', `localhost:${port}`]
      const agent = await plainAgent(port, [])
      let dev = await devOf(folder, given)
      const { id } = dev.ready.agents[1]!
      await dev.said(/^my-agent can be hired/)
      await closed(agent)
      const task = await hire(dev, id)
      await dev.until('the attempt', line => line.type === 'webhook' && line.taskId === task)
      await dev.stop()

      const refusing = createServer((request, response) => {
        request.resume().on('end', () => response.writeHead(401).end())
      }).listen(port, '127.0.0.1')
      dev = await devOf(folder, given)
      await dev.said(/^my-agent is not listed/)
      const attempts = dev.lines().filter(line => line.type === 'webhook' && line.taskId === task)
      assert.is(attempts[0]?.status, 401)
      for (const [at, { attempt, at: sent }] of attempts.slice(1).entries())
        assert.ok(String(sent) >= String(attempts[at]!.nextAttemptAt), `attempt ${attempt} came before its time`)
      await dev.stop()
      await closed(refusing)
    }),
  )

if (isLong)
  test(
    'a start that is not told of them forwards to the agents of the one before, but to none that was deleted or renamed',
    inFolder(async folder => {
      await keepFrontPort(folder)
      const port = await freePort()
      const named = (name: string) => ['--agent', `${name}=http://localhost:${port}/${name}`]
      let dev = await devOf(folder, [...named('kept'), ...named('deleted'), ...named('renamed')])
      const [, kept] = dev.ready.agents
      const deleted = await run(['agents', 'delete', 'deleted', '--yes'], folder)
      assert.is(deleted.code, 0, deleted.err)
      await dev.stop()
      dev = await devOf(folder, ['--agent', `new-name=http://localhost:${port}/renamed`])
      const [, renamed, again, ...others] = dev.ready.agents
      assert.is(renamed!.slug, 'new-name')
      assert.equal([again, others], [kept, []])
      const hired = run(['simulate', 'buyer', 'kept', '--timeout', '1'], folder)
      const agent = await plainAgent(port, [])
      assert.match(
        (await hired).out,
        /^✔ Submitted .* to kept for/,
        'who hires it while it starts waits until it is listed',
      )
      await dev.stop()
      await closed(agent)
    }),
  )

test.run()
