// engines: postgres; process: shared
/** How often a unit waits for the server: each packet that it sends is one round trip, and more of them are seen by whoever is far from it. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../../support/databases.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'
import { messages } from '../../support/transaction-pooler.ts'
import { ROUND_TRIPS } from '../../world/shard-plan.ts'

/** Its packets: the statements of each. */
type Unit = string[][]

/** Stands before the server and tells the units that pass. */
async function startListener(url: string) {
  const { hostname, port } = new URL(url)
  const sockets = new Set<net.Socket>()
  const units: Unit[] = []
  const gate = net.createServer(client => {
    const far = net.connect(Number(port), hostname)
    const texts = new Map<string, string>()
    const asked: string[] = []
    let unit: Unit = []
    const hear = messages((type, message) => {
      const [first = '', second = ''] = message.toString('utf8', 5).split('\0', 2)
      if (type === 'P') texts.set(first, second)
      if (type === 'B') asked.push(texts.get(second)!)
      if (type !== 'S') return
      if (asked.some(text => text.startsWith('BEGIN'))) {
        unit = []
        units.push(unit)
      }
      unit.push(asked.splice(0))
    }, true)
    for (const [one, other] of [
      [client, far],
      [far, client],
    ] as const) {
      sockets.add(one.setNoDelay())
      one.on('error', () => {}).on('close', () => other.destroy())
      one.on('data', piece => {
        if (one === client) hear(piece)
        other.write(piece)
      })
    }
  })
  await once(gate.listen(0, '127.0.0.1'), 'listening')
  const through = Object.assign(new URL(url), { port: String((gate.address() as net.AddressInfo).port) })
  const close = () => {
    for (const socket of sockets) socket.destroy()
    gate.close()
  }
  return { url: through.href, units, close }
}

interface State {
  marketplace: TestMarketplace
  buyer: TestUser
  agent: ListedAgent
  units: Unit[]
  end(): Promise<void>
}

const trips = suite<State>('round trips')

trips.before(async state => {
  const { url, drop } = await freshDatabase({ migrated: true })
  const listener = await startListener(url)
  const postgres = { url: listener.url }
  const marketplace = await openTestMarketplace({ postgres, secretKey: randomBytes(32).toString('base64') })
  const agent = await marketplace.list(await marketplace.join('builder'))
  await marketplace.stopHeartbeat()
  const end = async () => {
    await marketplace.close()
    listener.close()
    await drop()
  }
  Object.assign(state, {
    marketplace,
    agent,
    buyer: await marketplace.join('buyer', 10_000),
    units: listener.units,
    end,
  })
})

trips.after(({ end }) => end())

const which = (units: readonly Unit[], pattern: RegExp) =>
  units.filter(unit => unit.flat().some(text => pattern.test(text)))
const lengths = (units: readonly Unit[]) => units.map(({ length }) => length)

trips('each step of a task takes as few as its answers allow', async ({ marketplace, buyer, agent, units }) => {
  const { id } = await marketplace.draft(buyer, agent)
  const steps = {
    submit: [2, () => buyer.ask('POST', `/api/tasks/${id}/submit`)],
    accept: [3, () => marketplace.callback(agent, id, { action: 'accept' })],
    deliver: [3, () => marketplace.callback(agent, id, { action: 'deliver', content: 'Done.' })],
    approve: [ROUND_TRIPS, () => buyer.ask('POST', `/api/tasks/${id}/approve`)],
  } as const
  for (const [name, [most, step]] of Object.entries(steps)) {
    await marketplace.webhooksSent()
    units.length = 0
    const { status, error } = await step()
    assert.is(status, 200, error)
    assert.equal(lengths(which(units, /UPDATE tasks SET status/)), [most], name)
  }
})

trips('what became of a webhook takes two', async ({ marketplace, buyer, agent, units }) => {
  const { id } = await marketplace.draft(buyer, agent)
  units.length = 0
  await buyer.client.submitTask({ id })
  await marketplace.webhooksSent()
  // What became of earlier ones may be noted meanwhile.
  assert.equal([...new Set(lengths(which(units, /INSERT INTO attempts/)))], [2])
})

trips('a page of a list and the count of all go together', async ({ buyer, units }) => {
  for (const path of ['/api/tasks', '/api/tasks?q=task', '/api/wallet/transactions']) {
    units.length = 0
    const { status, error } = await buyer.ask('GET', path)
    assert.is(status, 200, error)
    // Who asks, and what they see. The end travels with what comes next, or alone once the answer is out.
    const packets = which(units, /COUNT\(\*\)/).map(unit => unit.filter(packet => packet.join() !== 'COMMIT'))
    assert.equal(lengths(packets), [2], path)
  }
})

trips.run()
