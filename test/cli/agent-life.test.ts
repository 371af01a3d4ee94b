// engines: embedded; process: shared
/** A builder's whole way on the command line: an agent is made, tested, published and hired. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { agentHandler } from '../../src/client/webhooks.ts'
import { createFrontAuthority, startFront } from '../../src/sim/agents/https-front.ts'
import { listen } from '../support/listen.ts'
import { answerOf, COMMAND, inFolder, run, startDev, typeInto } from './program.ts'

/** Rejects, keeps silent or works, as the title says. */
async function startAgent() {
  let secret = ''
  const { url, close } = await listen((request, response) =>
    agentHandler({
      secret,
      async onTask({ data }, reply) {
        if (/reject/.test(data.title)) return reply.reject('No.')
        if (/silent/.test(data.title)) return
        await reply.accept()
        await reply.deliver(`Done: ${data.title}`)
      },
      onRevision: ({ data }, reply) => reply.deliver(`Done again: ${data.revisionReason}`),
      onError: () => {},
    })(request, response),
  )
  const use = (given: string) => {
    secret = given
  }
  return { url, use, close }
}

const AGENT = {
  name: 'Life Agent',
  tagline: 'Lives a whole life on the command line',
  description: 'Made by a test, tested by the connection test, published, approved, hired and reviewed.',
  basePrice: 700,
  categoryIds: ['cat_translation'],
}

test(
  'an agent comes to life by commands alone: create, rotate, test, publish, approve, hire',
  inFolder(async folder => {
    const agent = await startAgent()
    const authority = createFrontAuthority()
    const front = await startFront({ authority })
    const webhookUrl = front.route('localhost', agent.url)
    writeFileSync(join(folder, 'ca.pem'), await authority.ca)
    const { stop } = await startDev(folder, { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') })
    try {
      writeFileSync(join(folder, 'agent.json'), JSON.stringify({ ...AGENT, webhookUrl }))
      const made = await answerOf(['agents', 'create', '--file', 'agent.json', '--max-revisions', '2'], folder)
      assert.is(made.code, 0, JSON.stringify(made))
      assert.is(made.data.slug, 'life-agent')
      assert.is(made.data.maxRevisions, 2)

      const untested = await run(['test-connection', 'life-agent'], folder)
      assert.is(untested.code, 3)
      assert.match(untested.out, /^✖ 3 webhook_secret/m)
      assert.match(untested.out, /^- 4 endpoint/m)
      assert.match(untested.err, 'marketplace secret rotate life-agent')
      const early = await run(['agents', 'publish', 'life-agent'], folder)
      assert.is(early.code, 1)
      assert.match(early.err, /^Next: marketplace secret rotate life-agent$/m)

      agent.use((await run(['secret', 'rotate', 'life-agent'], folder)).out.trim())
      const tested = await answerOf(['test-connection', 'life-agent'], folder)
      assert.is(tested.code, 0, JSON.stringify(tested))
      assert.equal(
        tested.data.checks.map(({ status }: { status: string }) => status),
        Array(5).fill('passed'),
      )
      assert.match((await run(['agents', 'publish', 'life-agent'], folder)).out, 'life-agent is pending_review.')
      const approve = ['call', 'POST', `/api/admin/agents/${made.data.id}/approve`, '--as', 'admin']
      assert.is((await answerOf(approve, folder)).data.status, 'verified')

      const bought = await run(['simulate', 'buyer', 'life-agent', '--revisions', '2', '--rating', '4'], folder)
      assert.is(bought.code, 0, bought.err)
      for (const words of ['for 7.00', 'The agent accepted', 'delivered: Done: A task', 'revision 2 of 2']) {
        assert.ok(bought.out.includes(words), `${words}: ${bought.out}`)
      }
      for (const words of ['Approved: 7.00', 'Reviewed with 4 of 5', 'is completed. Wallet 993.00, held 0.00']) {
        assert.ok(bought.out.includes(words), `${words}: ${bought.out}`)
      }
      const { data } = await answerOf(['agents', 'show', 'life-agent'], folder)
      assert.is(data.completedTasks, 1)
      assert.equal(data.rating, { average: 4, count: 1 })
      await otherEnds(folder)
    } finally {
      await stop()
      await front.close()
      await agent.close()
    }
  }),
)

async function otherEnds(folder: string): Promise<void> {
  const hire = ['simulate', 'buyer', 'life-agent', '--title']
  const told = async (...args: string[]) => {
    const { code, out } = await run([...hire, ...args, '--json'], folder)
    const lines = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    return { code, steps: lines.slice(0, -1).map(({ step }) => step), end: lines.at(-1) }
  }
  const cancelled = await told('Stay silent', '--outcome', 'cancel')
  assert.equal(cancelled.steps, ['submitted', 'cancelled'])
  assert.is(cancelled.end.data.task.status, 'cancelled')
  assert.is(cancelled.code, 0)

  const disputed = await told('Argue about it', '--outcome', 'dispute')
  assert.equal(disputed.steps, ['submitted', 'accepted', 'delivered', 'disputed'])
  assert.is(disputed.end.data.task.dispute.status, 'open')
  assert.is(disputed.end.data.wallet.heldBalance, 700)

  const rejected = await told('Please reject this')
  assert.is(rejected.code, 1)
  assert.is(rejected.end.success, false)
  assert.match(rejected.end.error, 'rejected the task ("No."); 7.00 came back')

  const slow = await run([...hire, 'Stay silent', '--timeout', '1'], folder)
  assert.is(slow.code, 1)
  assert.match(slow.err, 'The agent did not accept within 1 s')
  assert.match(slow.err, /: marketplace why task_\S+ --as builder$/m)
  assert.match(slow.err, /tasks cancel \S+ --as buyer$/m)
}

test(
  'create refuses by flags and files what an agent can not be, and never asks where nobody can answer',
  inFolder(async folder => {
    const { stop } = await startDev(folder)
    const { categoryIds, basePrice, ...words } = AGENT
    writeFileSync(join(folder, 'typo.json'), JSON.stringify({ ...words, webhookURL: 'https://x' }))
    const flags = Object.entries(words).flatMap(([name, text]) => [`--${name}`, text])
    for (const [args, wanted] of [
      [['--name', 'Nameless'], 'needs --tagline, --description, --base-price, --category'],
      [['--file', 'typo.json'], 'webhookURL, which is not known here. The fields: name, '],
      [['--file', 'absent.json'], 'there is no such file'],
      [[...flags, '--base-price', '5.0'], '--base-price takes an amount with two decimals, like 5.00, not 5.0.'],
      [[...flags, '--base-price', '5.00', '--category', 'cooking'], 'There is no category cooking'],
    ] as const) {
      const { code, err, out } = await run(['agents', 'create', ...args], folder)
      assert.is(code, 2, err)
      assert.match(err, wanted)
      assert.is(out, '')
    }
    const short = await run(
      ['agents', 'create', ...flags, '--base-price', '5.00', '--category', 'code', '--tagline', 'x'],
      folder,
    )
    assert.is(short.code, 1)
    assert.match(short.err, /^Validation failed\.\n {2}--tagline: must have 10 to 200 characters; this has 1\n/)
    const stdin = await run(['agents', 'create', '--file', '-'], folder, {}, JSON.stringify(AGENT))
    assert.is(stdin.code, 0, stdin.err)
    assert.match(stdin.out, /^life-agent \(agt_\w+\) is made, in draft\.\n$/)

    // A terminal of its own, where the system has the program that makes one.
    if (existsSync('/usr/bin/script')) {
      const command = `${COMMAND} agents create --name Asked --tagline "Was asked for the rest" --category code`
      const asked = await typeInto(command, folder, [
        ['Description', 'too short\r'],
        ['It must have', '\u0015The description of an agent whose builder typed it all in.\r'],
        ['Price', '900\r'],
        ['two decimals', '\u00151.00\r'],
        ['at least 2.00', '\u00159.00\r'],
        ['Webhook URL', '\r'],
      ])
      assert.match(asked, 'It must have 50 to 5,000 characters')
      assert.match(asked, 'asked (agt_')
      assert.is((await answerOf(['agents', 'show', 'asked'], folder)).data.basePrice, 900)
    }
    await stop()
  }),
)

test.run()
