// engines: embedded; process: own
/** The journal of an agent with the toolkit: real files, and real servers on loopback. */
import fs from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { signatureHeaders } from '../../src/api/signature.ts'
import { Inbox } from '../../src/client/inbox.ts'
import { type AgentOptions, agentHandler, type CallbackError } from '../../src/client/webhooks.ts'
import { listen } from '../support/listen.ts'
import { until } from '../support/patience.ts'
import { delivery, marketplace, onStage, task } from './journal-stage.ts'
import { SECRET, send } from './toolkit.ts'

test(
  'what was said before the end is not said again, and what comes later is',
  onStage(async stage => {
    const market = await marketplace(() => 201)
    let isHeld = true
    const heard: unknown[] = []
    const onTask: AgentOptions['onTask'] = async (_event, reply) => {
      heard.push(await reply.message('One'), await reply.message('One'))
      if (isHeld) throw new Error('The disk of its own is full.')
      heard.push(await reply.deliver('Two'))
    }
    const first = await stage.open({ onTask })
    await send(first.url, task('a', market.url))
    await until('both messages', () => heard.length === 2)
    await first.stop()
    isHeld = false
    const second = await stage.open({ onTask })
    await until('the deliverable', () => heard.length === 5)
    assert.equal(market.actions(), ['message', 'message', 'deliver'])
    assert.equal(heard, [1, 2, 1, 2, 3])
    await second.stop()
    market.close()
  }),
)

test(
  'what is not done is begun in the order in which it came, each task by itself, and not before the maker has ended',
  onStage(async stage => {
    const first = await stage.open({ onTask: () => Promise.reject(new Error('not today')) })
    for (const step of ['1', '2', '3']) {
      for (const name of ['a', 'b']) await send(first.url, { ...task(name), timestamp: step })
    }
    await first.stop()
    const begun: string[] = []
    let underWay = 0
    const second = await stage.open({
      async onTask({ data, timestamp }) {
        assert.is(made, true)
        begun.push(`${data.title}${timestamp}`)
        assert.ok(++underWay <= 2)
        await new Promise(resolve => setImmediate(resolve))
        underWay -= 1
      },
    })
    const made = true
    await until('all of them', () => begun.length === 6)
    assert.equal(begun, ['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
    await second.stop()
  }),
)

test(
  'what the marketplace refuses for good is done, an error of its own is not, and ten times are enough',
  onStage(async stage => {
    const market = await marketplace(() => 409)
    const begun: string[] = []
    const errors: string[] = []
    const onTask: AgentOptions['onTask'] = async ({ data }, reply) => {
      begun.push(data.title)
      if (data.title === 'refused') await reply.accept()
      throw new Error('wrong')
    }
    const onError = (error: unknown) => errors.push((error as Error).message)
    for (let n = 1; n <= 12; n++) {
      const agent = await stage.open({ onTask, onError })
      if (n === 1) for (const title of ['refused', 'wrong']) await send(agent.url, task(title, market.url))
      await until('an error', () => errors.length >= (n === 1 ? 2 : Math.min(n + 1, 12)))
      await agent.stop()
    }
    assert.equal(begun, ['refused', ...Array.from({ length: 10 }, () => 'wrong')])
    assert.match(errors.at(-1)!, 'It was begun 10 times and has never ended, so it is given up.')
    assert.is(errors.length, 12)
    market.close()
  }),
)

test(
  'which refusals of a callback are for good: what met another is done at the next start, and each may come as another delivery',
  onStage(async stage => {
    const [forGood, forNow] = [
      ['400', '403', '404', '409', '422'],
      ['302', '401', '408', '429', '500', '503'],
    ]
    const all = [...forGood!, ...forNow!]
    const market = await marketplace((_action, words) => Number(words))
    const begun: string[] = []
    const errors: string[] = []
    const onTask: AgentOptions['onTask'] = async ({ data }, reply) => {
      begun.push(data.title)
      await reply.deliver(data.title)
    }
    const onError: AgentOptions['onError'] = (error, { data }) =>
      errors.push(`${data.title} ${(error as CallbackError).status}`)
    const open = () => stage.open({ onTask, onError, attempts: 1 })
    const first = await open()
    for (const [nth, id] of ['dlv', 'dlv', 'another'].entries()) {
      for (const title of all) await send(first.url, task(title, market.url), delivery(`${id}_${title}`))
      await until('the refusals', () => errors.length === (nth < 2 ? 1 : 2) * all.length)
    }
    assert.equal(
      [begun.splice(0).sort(), errors.splice(0).sort()],
      [twice(all), twice(all.map(one => `${one} ${one}`))],
    )
    await first.stop()
    const second = await open()
    await until('their refusals', () => errors.length === forNow!.length)
    await second.stop()
    assert.equal(begun.sort(), forNow)
    market.close()
  }),
)

const twice = (texts: readonly string[]) => [...texts, ...texts].sort()

test(
  'an accept that was not heard, and is too old to be sent as it was, has counted if the task is under way, and only then',
  onStage(async stage => {
    let isSilent = true
    let first: 'accept' | 'reject' = 'accept'
    const status = (action: string) => (isSilent ? null : action === first ? 400 : 201)
    const underWay = "A task that is in_progress can't be accepted."
    const heard: unknown[] = []
    const onTask: AgentOptions['onTask'] = async ({ data }, reply) => {
      heard.push(await reply[first]().catch(({ message }: Error) => message))
      if (!isSilent) await reply.message(data.title)
    }
    for (const [name, error, due, action = 'accept'] of [
      ['under way', underWay, undefined],
      ['over', "A task that is cancelled can't be accepted.", "A task that is cancelled can't be accepted."],
      ['rejected', underWay, underWay, 'reject'],
    ] as const) {
      first = action
      isSilent = true
      const market = await marketplace(status, error)
      const before = await stage.open({ onTask })
      await send(before.url, task(name, market.url))
      await until('its first word', () => market.came.length === 1)
      await before.stop()
      fs.writeFileSync(stage.path, stage.text.replace(/"at":\d+/g, `"at":${Date.now() - 250_000}`))
      isSilent = false
      heard.length = 0
      const after = await stage.open({ onTask })
      await until('its message', () => market.came.length === 3)
      // A fresh one that is refused is refused, whatever the task does.
      await send(after.url, task(`fresh ${name}`, market.url))
      await until('another message', () => market.came.length === 5)
      // It is written down once its answer is there.
      const counting = () => stage.text.match(/"counts":true/g)!.length
      await until('all that counts', () => counting() === (due === undefined ? 3 : 2))
      await after.stop()
      assert.equal(heard, [due, error], name)
      assert.equal(market.actions(), [first, first, 'message', first, 'message'])
      assert.is.not(market.came[1]!.signature, market.came[0]!.signature)
      assert.is(counting(), due === undefined ? 3 : 2)
      market.close()
    }
  }),
)

test(
  'a journal holds what came, how often it was begun and what was said, over ends and over lines that are none',
  onStage(async stage => {
    const came = (n: number, mark = n) => ({ key: `key ${n}`, marks: [`id ${mark}`], body: `body ${n}` })
    const first = new Inbox(stage.path)
    for (const n of [1, 2, 3, 4]) assert.is(await first.isNew(came(n)), true)
    await first.begun('key 1')
    await first.sent('key 1', 'accept', { at: 5 })
    await first.sent('key 1', 'accept', { at: 5, counts: true, data: { id: 'task_1' } })
    await first.sent('key 1', 'deliver', { at: 6 })
    await first.done('key 2', false)
    await first.done('key 3', true)
    first.leave('key 1')
    first.close()
    const due = [
      {
        ...came(1),
        runs: 2,
        isLeft: false,
        sent: new Map([
          ['accept', { at: 5, counts: true, data: { id: 'task_1' } }],
          ['deliver', { at: 6 }],
        ]),
      },
      { ...came(4), runs: 1, isLeft: false, sent: new Map() },
    ]
    // The third reads what the second has written anew.
    for (let n = 2; n <= 3; n++) {
      fs.appendFileSync(stage.path, 'null\n17\n"done"\n{"done":"key 1\n')
      const next = new Inbox(stage.path)
      assert.equal(
        next.unfinished.map(({ bytes: _, ...one }) => one),
        due,
      )
      assert.is(fs.statSync(stage.path).mode & 0o777, process.platform === 'win32' ? 0o666 : 0o600)
      next.close()
    }
    const last = new Inbox(stage.path)
    const isNew = (n: number, mark?: number) => last.isNew(came(n, mark))
    assert.equal(
      [await isNew(2), await isNew(2, 7), await isNew(9, 7), await isNew(9, 3), await isNew(1, 8), await isNew(9, 8)],
      [false, false, false, false, false, false],
      'a delivery is known by each of its marks, also by one that came with a copy',
    )
    assert.is(await isNew(3, 10), true, 'what the marketplace has refused may come as another delivery')
    last.leave('key 1')
    assert.is(await isNew(1, 11), true, 'and so may what went wrong')
    const { bytes: _, ...again } = last.kept('key 1')!
    assert.equal(again, { ...due[0], runs: 1 }, 'with what was said')
    last.close()
  }),
)

test('without a journal too the latest deliveries are known, and the oldest are forgotten', async () => {
  const inbox = new Inbox(undefined)
  const marks = (n: number) => Array.from({ length: 99 }, (_, nth) => `mark ${n} ${nth}`)
  const isNew = (n: number) => inbox.isNew({ key: `key ${n}`, marks: marks(n), body: '' })
  for (let n = 0; n < 400; n++) await isNew(n)
  assert.equal([await isNew(399), await isNew(200), await isNew(0)], [false, false, true])
})

test(
  'one webhook at a time: of twenty at once one is worked on, and fifty others are all kept',
  onStage(async stage => {
    const worked: string[] = []
    const agent = await stage.open({ onTask: ({ data }) => void worked.push(data.title) })
    const copies = Array.from({ length: 20 }, (_, n) => send(agent.url, task('same'), delivery(`dlv_${n}`)))
    const others = Array.from({ length: 50 }, (_, n) => send(agent.url, task(`other ${n}`)))
    assert.ok((await Promise.all([...copies, ...others])).every(({ status }) => status === 200))
    await until('the work', () => worked.length >= 51)
    await agent.stop()
    assert.is(new Set(worked).size, 51)
    assert.is(worked.length, 51)
  }),
)

test(
  'the 200 waits for the disk, also that of a copy, and a disk that refuses means 503 for both',
  onStage(async stage => {
    const { fdatasync } = fs
    let go = (_error: Error | null) => {}
    let asked = 0
    fs.fdatasync = ((fd: number, then: (error: Error | null) => void) => {
      asked += 1
      go = error => (error ? then(error) : fdatasync(fd, then))
    }) as typeof fdatasync
    let worked = 0
    const errors: string[] = []
    const onError = (error: unknown) => errors.push((error as Error).message)
    const agent = await stage.open({ onTask: () => void worked++, onError })
    const statuses: number[] = []
    const sendIt = (id: string) => send(agent.url, task('a'), delivery(id)).then(({ status }) => statuses.push(status))
    try {
      const refused = [sendIt('dlv_1'), sendIt('dlv_2')]
      await until('the disk', () => asked === 1)
      assert.equal(statuses, [])
      go(Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' }))
      await Promise.all(refused)
      assert.equal([statuses, worked], [[503, 503], 0])
      assert.match(errors[0]!, /^The journal .+ can't be written: EROFS/)

      const kept = sendIt('dlv_1')
      await until('the disk again', () => asked === 2)
      assert.is(worked, 0)
      go(null)
      await kept
      assert.equal(statuses, [503, 503, 200])
    } finally {
      fs.fdatasync = fdatasync
      go(null)
    }
    await until('the work', () => worked === 1)
    await agent.stop()
  }),
)

test(
  'a last line that is torn is left out, and what stands before and comes after it counts',
  onStage(async stage => {
    const first = await stage.open({ onTask: () => Promise.reject(new Error('not today')) })
    await send(first.url, task('a'))
    await send(first.url, task('b'))
    await first.stop()
    const lines = stage.text.split('\n')
    const last = lines.findIndex(line => line.includes('task_b'))
    const text = [...lines.slice(0, last), lines[last]!.slice(0, -9)].join('\n')
    fs.writeFileSync(stage.path, text.replace(`"pid":${process.pid}`, '"pid":99999999'))
    const begun: string[] = []
    const onTask: AgentOptions['onTask'] = ({ data }) => {
      begun.push(data.title)
      throw new Error('not today')
    }
    for (let n = 1; n <= 2; n++) {
      const agent = await stage.open({ onTask })
      await until('what is whole', () => begun.length >= (n === 1 ? 1 : 4))
      if (n === 1) await send(agent.url, task('c'))
      await agent.stop()
    }
    assert.equal(begun, ['a', 'c', 'a', 'c'])
  }),
)

test(
  'what was refused for its signature is done at the next start: the secret may have been mended',
  onStage(async stage => {
    let status = 401
    const market = await marketplace(() => status)
    const onTask: AgentOptions['onTask'] = (_event, reply) => reply.accept()
    const first = await stage.open({ onTask })
    await send(first.url, task('a', market.url))
    await until('the refusal', () => market.came.length === 1)
    await first.stop()
    status = 201
    const second = await stage.open({ onTask })
    await until('another try', () => market.came.length === 2)
    await second.stop()
    market.close()
  }),
)

test(
  'it stays short: what is done leaves it, and what is not stays',
  onStage(async stage => {
    const steps: string[] = []
    const { writeFileSync, renameSync } = fs
    fs.writeFileSync = ((path, text, options) => {
      if (String(path).endsWith('.new')) steps.push((options as { flush?: boolean }).flush ? 'synced' : 'written')
      writeFileSync(path, text, options)
    }) as typeof writeFileSync
    fs.renameSync = (from, to) => {
      steps.push('renamed')
      renameSync(from, to)
    }
    const agent = await stage.open({
      onTask({ data }) {
        if (data.title === 'open') throw new Error('not today')
      },
    })
    await send(agent.url, task('open'))
    let longest = 0
    for (let n = 0; n < 60; n++) {
      await send(agent.url, task(`${n}`, undefined, { description: 'x'.repeat(100_000) }))
      longest = Math.max(longest, fs.statSync(stage.path).size)
    }
    await agent.stop()
    Object.assign(fs, { writeFileSync, renameSync })
    assert.equal(steps.slice(0, 2), ['synced', 'renamed'])
    assert.ok(longest > 4_000_000 && longest < 4_500_000, `${longest} bytes`)
    assert.equal(fs.readdirSync(stage.folder), ['agent.journal'])
    const begun: string[] = []
    const next = await stage.open({ onTask: ({ data }) => void begun.push(data.title) })
    await until('what is left', () => begun.length === 1)
    assert.ok(fs.statSync(stage.path).size < 20_000)
    await send(next.url, task('59', undefined, { description: 'x'.repeat(100_000) }), delivery('dlv_new'))
    await next.stop()
    assert.equal(begun, ['open'])
  }),
)

test(
  'what is answered 200 and not done has a bound',
  onStage(async stage => {
    const inbox = new Inbox(stage.path)
    const came = (n: number) => ({ key: `key ${n}`, marks: [], body: 'x'.repeat(16 * 1024 * 1024) })
    for (let n = 0; n < 4; n++) assert.is(await inbox.isNew(came(n)), true)
    const refused = await inbox.isNew(came(4)).catch((error: Error) => error.message)
    assert.is(refused, 'The journal is full: 4 webhooks that were answered 200 are not done yet.')
    await inbox.done('key 0', false)
    assert.is(await inbox.isNew(came(4)), true)
    assert.is(await inbox.isNew(came(0)), false)
    const data = 'x'.repeat(1024 * 1024)
    await inbox.sent('key 1', 'accept', { at: 1, counts: true, data })
    assert.equal(inbox.kept('key 1')!.sent.get('accept'), { at: 1, counts: true }, 'that it counts has room')
    await inbox.done('key 2', false)
    await inbox.sent('key 1', 'deliver', { at: 1, counts: true, data })
    assert.is(inbox.kept('key 1')!.sent.get('deliver')!.data, data)
    assert.is(await inbox.isNew(came(5)).catch(() => 'full'), 'full')
    await inbox.done('key 1', false)
    assert.is(await inbox.isNew(came(5)), true, 'with an event goes what was said for it')
    inbox.close()
  }),
)

test(
  'however many come at once, only so many are answered 200 before they are done',
  onStage(async stage => {
    const inbox = new Inbox(stage.path)
    const all = Array.from({ length: 12_000 }, (_, n) => inbox.isNew({ key: `key ${n}`, marks: [], body: '' }))
    const results = await Promise.allSettled(all)
    const kept = results.findIndex(({ status }) => status === 'rejected')
    assert.is(inbox.unfinished.length, kept)
    const isTaken = async (key: string) =>
      inbox.isNew({ key, marks: [], body: '' }).catch(({ message }: Error) => message)
    const full = `The journal is full: ${kept} webhooks that were answered 200 are not done yet.`
    assert.is(await isTaken('one more'), full)
    await inbox.done('key 0', false)
    assert.is(await isTaken('one more'), true)
    inbox.close()
  }),
)

test(
  'an agent whose signal has aborted takes nothing, and what it could not say it says at the next start',
  onStage(async stage => {
    const market = await marketplace(() => 503)
    const over = new AbortController()
    // An author may catch everything.
    const onTask: AgentOptions['onTask'] = (_event, reply) => reply.accept().catch(() => {})
    const agent = await listen(agentHandler({ secret: SECRET, journal: stage.path, onTask, signal: over.signal }))
    await send(agent.url, task('a', market.url))
    await until('its accept', () => market.came.length > 0)
    over.abort()
    assert.is((await send(agent.url, task('b', market.url))).status, 503)
    await until('the end of its work', () => stage.text.includes('"close"'))
    agent.close()
    const sent = market.came.length
    const next = await stage.open({ onTask })
    await until('its accept again', () => market.came.length > sent)
    await next.stop()
    market.close()
  }),
)

test(
  'a body that is captured and sent under another id is known after a restart too',
  onStage(async stage => {
    let worked = 0
    const body = JSON.stringify(task('a'))
    const headers = signatureHeaders(SECRET, Date.now(), body)
    for (const id of ['dlv_1', 'dlv_2']) {
      const agent = await stage.open({ onTask: () => void worked++ })
      assert.is(
        (await fetch(agent.url, { method: 'POST', body, headers: { ...headers, ...delivery(id) } })).status,
        200,
      )
      await until('the work', () => worked === 1)
      await agent.stop()
    }
    assert.is(worked, 1)
  }),
)

test.run()
