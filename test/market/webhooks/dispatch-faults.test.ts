// engines: embedded, postgres at length; process: own; lengths: short, long
/** Each call to the database, to agents and to the mail server fails once, at each step of a dispatch and of a mail: the next one goes. */
import { readdirSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { LogEntry } from '../../../src/market/log.ts'
import { StoreError } from '../../../src/store/db.ts'
import { insertMail } from '../../../src/store/tables/accounts/mails.ts'
import type { OutgoingFailure, OutgoingResult } from '../../../src/world/world.ts'
import { faultsOf } from '../../support/db-faults.ts'
import { isLong } from '../../support/length.ts'
import { openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'
import { openRawPostOffice } from '../../support/raw-post-office.ts'

/** More calls than any of them makes. */
const MOST = 300
const MINUTE = 60_000

const uncaught: string[] = []
process.on('unhandledRejection', error => uncaught.push(String((error as Error)?.stack ?? error)))
process.on('uncaughtException', error => uncaught.push(String(error.stack)))

const errors = {
  'is away': () => new StoreError('The database is away: made by a test.'),
  ...(isLong && { 'refuses something': () => new Error('The database refuses this: made by a test.') }),
}

const office = await openRawPostOffice()
const log: LogEntry[] = []
const mail = { smtpUrl: office.url, from: 'market@example.com', deadlineMs: 2_000 }
const marketplace: TestMarketplace = await openTestMarketplace({ mail, log: line => log.push(line) })
const buyer = await marketplace.join('buyer', 1_000_000)
const agent = await marketplace.list(await marketplace.join('builder'))
await marketplace.stopHeartbeat()
const faults = faultsOf(marketplace.market.db)
const { plain } = faults
const test = suite('way out faults')
test.after(async () => {
  await marketplace.close(0)
  office.close()
})

const descriptors = () => readdirSync('/proc/self/fd').length
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** A mail that waits. Some hours after the one before, as a mailbox gets few of them. */
function queue(id: string) {
  marketplace.world.advance(marketplace.world.now() + 120 * MINUTE)
  return plain.write(tx => insertMail(tx, { id, kind: 'password_reset', about: buyer.email }, marketplace.world.now()))
}

/** Time passes on both clocks until it is so, `step` ms at a time. */
function inTheEnd(isSo: () => boolean | Promise<boolean>, told: string, step = MINUTE): Promise<void> {
  let looks = 0
  const look = async () => {
    if (await isSo()) return true
    if (++looks % 10 === 0) {
      marketplace.world.tick(step)
      await marketplace.runDue().catch(() => {})
    }
    return false
  }
  return until(told, look, 2)
}

const received = (taskId: string) => agent.sink.received.filter(({ data }) => data.taskId === taskId).length

async function draft(): Promise<string> {
  // Time passes in bounds: the agent stays fresh, and so does the buyer's money.
  await plain.write(tx => tx.run('UPDATE agents SET last_pass_at = $1', [marketplace.world.now()]))
  return (await marketplace.draft(buyer, agent, { agreedPrice: 200 })).id
}

const submit = (id: string) => buyer.ask('POST', `/api/tasks/${id}/submit`, undefined, 'key')
const statusOf = async (id: string) =>
  (await plain.read(q => q.get<{ status: string }>('SELECT status FROM tasks WHERE id = $1', [id])))!.status
const isNoted = async (id: string) =>
  (await plain.read(q =>
    q.get<{ state: string }>(`SELECT state FROM deliveries WHERE task_id = $1 AND state = 'delivered'`, [id]),
  )) !== undefined

async function nextGoes(told: string): Promise<void> {
  const id = await draft()
  assert.is((await submit(id)).status, 200, told)
  // Small steps: on a slow machine a minute would end the lease of what is under way, and it would be sent once more.
  await inTheEnd(() => isNoted(id), told, 1_000)
  assert.is(received(id), 1, told)
  assert.equal(uncaught, [], told)
}

for (const [words, error] of Object.entries(errors)) {
  test(`a database that ${words} at any call of a dispatch loses no webhook and stops none after it`, async () => {
    const seen = new Set<string>()
    const open = descriptors()
    for (let nth = 1; nth < MOST; nth++) {
      const id = await draft()
      faults.arm(nth, error())
      const { status } = await submit(id)
      await until('the fault, or the webhook', async () => faults.tripped !== null || (await isNoted(id)), 2)
      await pause(5)
      faults.disarm()
      const { tripped } = faults
      const told = `${tripped} (${nth}): ${status}`
      if (tripped === null) {
        assert.is(status, 200, told)
        break
      }
      seen.add(tripped)
      assert.ok(status === 200 || status === 500, told)
      if ((await statusOf(id)) === 'pending') {
        await inTheEnd(() => isNoted(id), told)
        assert.ok([1, 2].includes(received(id)), `${told}: received ${received(id)} times`)
      } else {
        assert.is(status, 500, told)
        assert.is(received(id), 0, told)
      }
      await nextGoes(told)
    }
    assert.is(faults.tripped, null)
    assert.ok(seen.size > 8, [...seen].join('\n'))
    assert.ok(descriptors() <= open + 10, `${open} descriptors became ${descriptors()}`)
  })

  test(`a database that ${words} at any call of a mail loses none and stops none after it`, async () => {
    let steps = 0
    const open = descriptors()
    for (let nth = 1; nth < MOST; nth++) {
      const [first, second] = [`mail_${words}_${nth}`, `mail_${words}_${nth}_next`]
      const waits = async (id: string) =>
        (await plain.read(q => q.get('SELECT id FROM mails WHERE id = $1', [id]))) !== undefined
      const before = office.taken
      await queue(first)
      faults.arm(nth, error())
      await marketplace.runDue().catch(() => {})
      faults.disarm()
      const { tripped } = faults
      const told = `${tripped} (${nth})`
      await inTheEnd(async () => !(await waits(first)), told)
      assert.ok([1, 2].includes(office.taken - before), `${told}: sent ${office.taken - before} times`)
      if (tripped === null) break
      steps++
      const between = office.taken
      await queue(second)
      await inTheEnd(async () => !(await waits(second)), told)
      assert.is(office.taken, between + 1, told)
      assert.equal(uncaught, [], told)
    }
    assert.is(faults.tripped, null)
    assert.ok(steps > 10, String(steps))
    await inTheEnd(() => office.connections() === 0, 'connections to the mail server')
    assert.ok(descriptors() <= open + 10, `${open} descriptors became ${descriptors()}`)
  })
}

const failures: readonly OutgoingFailure[] = ['timeout', 'reset', 'bad_answer', 'own_fault', 'refused', 'dns', 'tls']
const broken: [string, () => Promise<OutgoingResult>][] = [
  ['rejects', () => Promise.reject(new Error('Made by a test.'))],
  ...failures.map((reason): [string, () => Promise<OutgoingResult>] => [
    `fails with ${reason}`,
    async () => ({ ok: false, reason, message: 'Made by a test.', durationMs: 1 }),
  ]),
]
for (const [words, post] of broken) {
  test(`a way out that ${words} loses no webhook and stops none after it`, async () => {
    const { egress } = marketplace.market.world
    const real = egress.post
    const id = await draft()
    let failed = 0
    egress.post = async () => {
      failed++
      egress.post = real
      return post()
    }
    assert.is((await submit(id)).status, 200)
    await inTheEnd(() => isNoted(id), words)
    assert.equal([failed, received(id)], [1, 1])
    await nextGoes(words)
  })
}

test('a mailer that throws, or fails once, loses no mail and stops none after it', async () => {
  const mailer = marketplace.market.world.mail!
  const real = mailer.send
  const broken = [
    async () => Promise.reject(new Error('Made by a test.')),
    async () => ({ ok: false, permanent: false, message: 'Made by a test.' }) as const,
  ]
  for (const [at, send] of broken.entries()) {
    const before = office.taken
    let failed = 0
    mailer.send = async () => {
      failed++
      mailer.send = real
      return send()
    }
    for (const id of [`mail_broken_${at}_a`, `mail_broken_${at}_b`]) await queue(id)
    await marketplace.runDue()
    assert.equal([failed, office.taken], [1, before + 1], 'the second goes at once')
    await inTheEnd(() => office.taken === before + 2, 'the first goes later')
    assert.equal(uncaught, [])
  }
})

test.run()
