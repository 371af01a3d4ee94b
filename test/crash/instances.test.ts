/** Three servers on one Postgres behind a balancer, one killed again and again: nothing that was answered is lost. */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ledgerProblems } from '../../src/market/ledger.ts'
import { HttpParty } from '../../src/sim/http-party.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { inFolder, start } from '../cli/program.ts'
import { freshDatabase } from '../support/databases.ts'
import { startObjectStore } from '../support/object-store.ts'

const ROUNDS = 3
const PART = 700

const account = { email: 'ann@example.com', password: 'ann of a test', name: 'Ann', isBuilder: true }

test(
  'three instances, one killed at random under load: acknowledged money is there, the books are sound',
  inFolder(async folder => {
    const { url, drop } = await freshDatabase()
    const store = await startObjectStore()
    const admin = { MARKETPLACE_ADMIN_EMAIL: 'root@example.com', MARKETPLACE_ADMIN_PASSWORD: 'root of a test' }
    const env = { ...store.env, MARKETPLACE_SECRET_KEY: randomBytes(32).toString('base64'), ...admin }
    const flags = [
      '--files',
      store.address,
      '--json',
      '--port',
      '0',
      '--payments',
      'sandbox',
      '--rate-limits',
      'off',
      '--db-pool',
      '4',
    ]
    const begin = async () => {
      const { child, ended, firstLine } = start(['serve', '--db', url, ...flags], folder, env)
      return { child, ended, url: JSON.parse(await firstLine).url as string }
    }
    const instances = await Promise.all([begin(), begin(), begin()])
    let turn = 0
    /** As a balancer does: whoever is next. null if no whole answer came. */
    const ask = async (method: string, path: string, cookie = '', body?: object) => {
      const { url } = instances[turn++ % 3]!
      const headers = { 'content-type': 'application/json', ...(cookie && { cookie }) }
      try {
        const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
        return { status: answer.status, cookie: answer.headers.getSetCookie()[0], text: await answer.text() }
      } catch {
        return null
      }
    }
    const made = await ask('POST', '/api/auth/register', '', account)
    const cookie = made!.cookie!.split(';', 1)[0]!
    const root = new HttpParty(instances[1]!.url)
    await root.client.login({ email: 'root@example.com', password: 'root of a test' })
    const { user } = JSON.parse(made!.text).data
    await root.client.adminUpdateUser({ id: user.id, identityVerified: true })

    const counts = { in: 0, cut: 0, refused: 0 }
    let stopped = false
    const work = async () => {
      while (!stopped) {
        const answer = await ask('POST', '/api/wallet/deposit', cookie, { amount: PART })
        if (!answer) counts.cut++
        else if (answer.status < 300) counts.in++
        else counts.refused++
        assert.ok(!answer || answer.status < 500, answer?.text)
      }
    }
    const load = Promise.all(Array.from({ length: 4 }, work))
    load.catch(() => {})
    for (let round = 0; round < ROUNDS; round++) {
      const goal = counts.in + 40
      while (counts.in < goal) await wait(5)
      const at = Math.floor(Math.random() * 3)
      instances[at]!.child.kill('SIGKILL')
      await instances[at]!.ended
      instances[at] = await begin()
    }
    stopped = true
    await load
    const db = await openPostgres({ url })
    const deposits = await db.read(q =>
      q.get<{ count: number }>(`SELECT COUNT(*) AS count FROM transfers WHERE kind = 'deposit'`),
    )
    assert.ok(deposits!.count >= counts.in, `${deposits!.count} of ${counts.in}`)
    assert.ok(deposits!.count <= counts.in + counts.cut, `${deposits!.count} of ${counts.in} and ${counts.cut} cut`)
    assert.is(counts.refused, 0)
    const { problems } = await db.read(q => ledgerProblems(q))
    assert.equal(problems, [])
    await db.close()
    for (const { child } of instances) child.kill('SIGTERM')
    assert.equal(await Promise.all(instances.map(async ({ ended }) => (await ended).code)), [0, 0, 0])
    await Promise.all([drop(), store.close()])
  }),
)

test.run()
