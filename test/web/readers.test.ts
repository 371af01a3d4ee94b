// engines: embedded; process: shared
/** Readers that don't read, and too many of them: what waits for them is bounded in bytes, in time and in number. Source: A-49. */
import net from 'node:net'
import { join } from 'node:path'
import { mock } from 'node:test'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../src/api/records.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { openFilesIn } from '../support/file-faults.ts'
import { openTestMarketplace, type TestMarketplace } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'

const MEGABYTE = 1024 * 1024
const test = suite('readers')
const log: LogEntry[] = []
const marketplaces: TestMarketplace[] = []
test.after(async () => {
  await Promise.all(marketplaces.map(marketplace => marketplace.close(0)))
})

/** With a list of more than 9 MB, which the buffers of the system can't take whole. */
async function furnished(options: Parameters<typeof openTestMarketplace>[0]) {
  const marketplace = await openTestMarketplace({ log: line => log.push(line), ...options })
  marketplaces.push(marketplace)
  const buyer = await marketplace.join('buyer', 500_000)
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyer, agent, { agreedPrice: 200 })
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await builder.call('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key')
  const form = new FormData()
  form.append('files', new Blob([Buffer.alloc(10 * MEGABYTE, 'a')]), 'large.csv')
  const headers = { authorization: `Bearer ${builder.key}` }
  const path = `${marketplace.url}/api/agent/tasks/${id}/deliver`
  const { data } = (await (await fetch(path, { method: 'POST', headers, body: form })).json()) as {
    data: { task: TaskRecord }
  }
  // Rows that no wire could make so large, so that one answer does not need a hundred tasks.
  const content = '\u{1f600}'.repeat(2_500_000)
  await builder.client.addSample({ id: agent.id, title: 'A long one', output: 'Of its work, which is good.' })
  await marketplace.market.db.write(async tx => {
    await tx.run('UPDATE deliverables SET content = $1 WHERE task_id = $2', [content, id])
    await tx.run('UPDATE samples SET output = $1', [content])
  })
  return {
    marketplace,
    key: buyer.key as string,
    list: `/api/tasks/${id}/deliverables`,
    /** One that everybody may read, as no account or as any. */
    samples: `/api/agents/${agent.id}/samples`,
    file: data.task.deliverable!.files[0]!.url,
  }
}

const get = (path: string, key?: string) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${key ? `Authorization: Bearer ${key}\r\n` : ''}\r\n`

/** A connection that asks and then reads nothing, until it is told to. */
function ask(url: string, text: string, localAddress = '127.0.0.1') {
  const socket = net.connect({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress })
  let closed = false
  const ended = new Promise<void>(resolve => socket.on('close', () => resolve()))
  socket
    .on('error', () => {})
    .on('close', () => {
      closed = true
    })
  socket.pause()
  socket.write(text)
  return {
    socket,
    ended,
    get closed() {
      return closed
    },
  }
}

const gauge = async (url: string, name: string) => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

/** Reads what has come, at most a megabyte. */
const bytesFrom = (socket: net.Socket) => ((socket.read(MEGABYTE) ?? socket.read()) as Buffer | null)?.length ?? 0

const cuts = () => log.filter(line => line.type === 'cut_off').map(line => ('reason' in line ? line.reason : ''))

test('an answer that nobody reads ends with its connection, also while the client goes on sending', async () => {
  const { marketplace, key, samples, file } = await furnished({ bounds: { lookMs: 300 } })
  const folder = join(marketplace.market.files.incoming, '..')
  const silent = ask(marketplace.url, get(samples))
  const busy = ask(marketplace.url, `${get(samples)}GET /healthz HTTP/1.1\r\nHost: localhost\r\n`, '127.0.0.2')
  const more = setInterval(() => busy.socket.write('x: y\r\n'), 20)
  await until(
    'a list waits',
    async () => (await gauge(marketplace.url, 'marketplace_http_unread_bytes')) > 9 * MEGABYTE,
  )
  const downloads = ['127.0.0.3', '127.0.0.4'].map(address => ask(marketplace.url, get(file, key), address))
  await until('a download begins', () => openFilesIn(folder) > 0)
  await until('all are cut off', () => cuts().filter(reason => reason === 'slow_reader').length === 4)
  clearInterval(more)
  await until('the files are closed', () => openFilesIn(folder) === 0)
  await until('nothing waits', async () => (await gauge(marketplace.url, 'marketplace_http_unread_bytes')) === 0)
  for (const { socket } of [silent, busy, ...downloads]) socket.destroy()
  const text = await (await fetch(`${marketplace.url}/metrics`)).text()
  assert.match(text, /^marketplace_http_cut_off_total\{reason="slow_reader"\} 4$/m)
})

test('a reader that takes its time and a client that waits for its answer are left alone', async () => {
  const lookMs = 300
  // Looks come when the test lets the time pass, however long the bytes take.
  mock.timers.enable({ apis: ['setInterval'] })
  try {
    const { marketplace, key, list } = await furnished({ bounds: { lookMs } })
    const before = cuts().length
    const idle = ask(marketplace.url, '')
    const { socket } = ask(marketplace.url, get(list, key))
    let [size, looks] = [0, 0]
    const read = () => {
      size += bytesFrom(socket)
      return size
    }
    // Before each six looks comes more than is owed in them: so much that the system takes more of what waits.
    for (let owed = 0; size < 9 * MEGABYTE; looks += 6) {
      owed += 2.25 * MEGABYTE
      await until('more of it comes', () => read() >= owed)
      await new Promise(go => setTimeout(go, 50))
      mock.timers.tick(6 * lookMs)
    }
    assert.is(looks, 24)
    assert.is(cuts().length, before)
    assert.not(idle.closed)
    socket.destroy()
    idle.socket.destroy()
  } finally {
    mock.timers.reset()
  }
})

test('a reader that has taken much, and then takes nothing, is cut off', async () => {
  const lookMs = 300
  mock.timers.enable({ apis: ['setInterval'] })
  try {
    const { marketplace, key, list } = await furnished({ bounds: { lookMs } })
    const before = cuts().length
    const reader = ask(marketplace.url, get(list, key))
    const passes = () => mock.timers.tick(6 * lookMs)
    // The first look finds that bytes wait, and those after it that many of them were taken.
    await until('the answer begins', () => bytesFrom(reader.socket) > 0)
    passes()
    let size = 0
    await until('more of it comes', () => {
      size += bytesFrom(reader.socket)
      return size > 1.5 * MEGABYTE
    })
    await new Promise(go => setTimeout(go, 50))
    passes()
    assert.is(cuts().length, before)
    // Six looks later it has taken nothing more.
    mock.timers.tick(lookMs)
    assert.equal(cuts().slice(before), ['slow_reader'])
    reader.socket.destroy()
  } finally {
    mock.timers.reset()
  }
})

test('who reads next to nothing at a few addresses keeps no other from an answer', async () => {
  const { marketplace, key, list, samples } = await furnished({ bounds: { lookMs: 60_000, unreadMegabytes: 96 } })
  const few = 'a'.repeat(5 * MEGABYTE)
  await marketplace.market.db.write(async tx => {
    await tx.run('UPDATE deliverables SET content = $1', [few])
    await tx.run('UPDATE samples SET output = $1', [few])
  })
  const waiting = () => gauge(marketplace.url, 'marketplace_http_unread_bytes')
  const slow: ReturnType<typeof ask>[] = []
  // Two of each of nine fill what there is for all.
  for (let n = 0; n < 18; n++) {
    slow.push(ask(marketplace.url, get(samples), `127.0.0.${10 + (n >> 1)}`))
    await until('it waits', async () => (await waiting()) > (n + 1) * 5 * MEGABYTE)
  }
  slow.push(ask(marketplace.url, get(samples), '127.0.0.30'))
  await until('all is full', async () => (await waiting()) > 95 * MEGABYTE)
  const headers = { authorization: `Bearer ${key}` }
  assert.is((await fetch(`${marketplace.url}/api/agents`, { headers })).status, 200)
  const answer = await fetch(`${marketplace.url}${list}`, { headers })
  assert.is(answer.status, 200)
  assert.ok((await answer.text()).length > few.length)
  assert.ok(
    log.some(line => line.type === 'cut_off' && line.reason === 'unread_bytes' && line.address === '127.0.0.10'),
  )
  for (const { socket } of slow) socket.destroy()
})

test('bodies that nobody ends give way to another address when all is full: a gauge shows them, and the log says who and why', async () => {
  const marketplace = await openTestMarketplace({ log: line => log.push(line), bounds: { lookMs: 60_000 } })
  marketplaces.push(marketplace)
  const arriving = () => gauge(marketplace.url, 'marketplace_http_arriving_bytes')
  assert.is(await arriving(), 0)
  const size = MEGABYTE - 1_000
  const post = `POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${MEGABYTE}\r\n\r\n`
  const unended: ReturnType<typeof ask>[] = []
  for (let n = 0; n < 64; n++) unended.push(ask(marketplace.url, post + ' '.repeat(size), `127.0.0.${40 + (n >> 3)}`))
  await until('all is full', async () => (await arriving()) === 64 * size)
  const next = ask(marketplace.url, post + ' '.repeat(size), '127.0.0.60')
  await until('one gave way', () => cuts().includes('arriving_bytes'))
  await until('the next is taken', async () => (await arriving()) === 64 * size)
  const [told] = log.filter(line => line.type === 'cut_off' && line.reason === 'arriving_bytes')
  assert.match((told as { address: string }).address, /^127\.0\.0\.4\d$/)
  const text = await (await fetch(`${marketplace.url}/metrics`)).text()
  assert.match(text, /^marketplace_http_cut_off_total\{reason="arriving_bytes"\} 1$/m)
  for (const { socket } of [...unended, next]) socket.destroy()
  await until('nothing arrives', async () => (await arriving()) === 0)
})

test('of the fields of a form those that nothing names are dropped as they arrive, and the others are counted', async () => {
  const marketplace = await openTestMarketplace({ bounds: { lookMs: 60_000 } })
  marketplaces.push(marketplace)
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const { id } = await marketplace.draft(buyer, await marketplace.list(builder))
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await builder.call('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key')
  const part = (name: string, value: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const unknown = Array.from({ length: 15 }, (_, n) => part(`other${n}`, 'o'.repeat(190_000))).join('')
  const rest = '\r\n--x--\r\n'
  const send = (body: string, length: number) =>
    ask(
      marketplace.url,
      `POST /api/agent/tasks/${id}/deliver HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${builder.key}\r\nContent-Type: multipart/form-data; boundary=x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n${body}`,
    )
  const arriving = () => gauge(marketplace.url, 'marketplace_http_arriving_bytes')
  const long = unknown + part('content', 'ä'.repeat(95_000))
  const { socket } = send(long, Buffer.byteLength(long) + 100_000)
  await until('what is kept is counted', async () => (await arriving()) > 120_000)
  const bytes = await arriving()
  assert.ok(bytes < 270_000, `${bytes} bytes`)
  socket.destroy()
  await until('nothing arrives', async () => (await arriving()) === 0)
  const whole = `${unknown}${part('content', 'Done at last')}${part('notes', 'n'.repeat(1_000))}${rest.slice(2)}`
  send(whole, Buffer.byteLength(whole))
  await until('it is delivered', async () => (await buyer.client.getTask({ id })).status === 'delivered')
  const { deliverable } = await buyer.client.getTask({ id })
  assert.equal([deliverable!.content, deliverable!.notes!.length], ['Done at last', 1_000])
  await until('nothing is left', async () => (await arriving()) === 0)
})

test('answers that wait for one address are bounded in bytes, and so are all together', async () => {
  const { marketplace, samples } = await furnished({ bounds: { lookMs: 60_000, unreadMegabytes: 32 } })
  const answerTo = (localAddress: string) =>
    new Promise<string>(resolve => {
      const { socket } = ask(marketplace.url, get(samples), localAddress)
      socket.once('data', chunk => {
        resolve(String(chunk).slice(0, 2_000))
        socket.destroy()
      })
      socket.resume()
    })
  const waiting = () => gauge(marketplace.url, 'marketplace_http_unread_bytes')
  const first = ask(marketplace.url, get(samples))
  await until('it waits', async () => (await waiting()) > 9 * MEGABYTE)
  const own = await answerTo('127.0.0.1')
  assert.match(own, /^HTTP\/1\.1 429 /)
  assert.match(own, /retry-after: 5\r\n/i)
  assert.match(own, /read them before you ask for more/)
  const others = ['127.0.0.2', '127.0.0.3'].map(address => ask(marketplace.url, get(samples), address))
  await until('three wait', async () => (await waiting()) > 27 * MEGABYTE)
  assert.match(await answerTo('127.0.0.5'), /^HTTP\/1\.1 500 [\s\S]*Too much is asked of the marketplace/)
  assert.is((await fetch(`${marketplace.url}/api/agents`)).status, 429, 'nothing more for who reads nothing')
  assert.is((await marketplace.market.db.read(async () => 1)) as number, 1)
  for (const { socket } of [first, ...others]) socket.destroy()
  await until('nothing waits', async () => (await waiting()) === 0)
  assert.match(await answerTo('127.0.0.1'), /^HTTP\/1\.1 200 /)
})

test('an account has one share, from however many addresses it asks, and is told so: never that all is full', async () => {
  const { marketplace, key, list, samples } = await furnished({ bounds: { lookMs: 60_000, unreadMegabytes: 32 } })
  const statusAt = (localAddress: string, text: string) =>
    new Promise<string>(resolve => {
      const { socket } = ask(marketplace.url, text, localAddress)
      socket.once('data', chunk => {
        resolve(String(chunk).slice(9, 12))
        socket.destroy()
      })
      socket.resume()
    })
  const waiting = () => gauge(marketplace.url, 'marketplace_http_unread_bytes')
  const first = ask(marketplace.url, get(list, key), '127.0.0.10')
  await until('it waits', async () => (await waiting()) > 9 * MEGABYTE)
  const statuses: string[] = []
  for (let n = 11; n < 20; n++) statuses.push(await statusAt(`127.0.0.${n}`, get(list, key)))
  assert.equal(statuses, Array(9).fill('429'))
  assert.is(await statusAt('127.0.0.11', get('/api/tasks', key)), '429', 'nothing more for who reads nothing')
  assert.is(await statusAt('127.0.0.11', get(samples)), '200', 'the address is free')
  first.socket.destroy()
  await until('nothing waits', async () => (await waiting()) === 0)
  assert.is(await statusAt('127.0.0.11', get(list, key)), '200')
})

test('connections of one address are bounded, and all together, and others are still answered', async () => {
  const marketplace = await openTestMarketplace({
    log: line => log.push(line),
    bounds: { ofAddress: 8, connections: 12 },
  })
  marketplaces.push(marketplace)
  const closedOf = (all: readonly ReturnType<typeof ask>[]) => all.filter(({ closed }) => closed).length
  const open = async (count: number, address: string) => {
    const all = Array.from({ length: count }, () => ask(marketplace.url, '', address))
    for (const { socket } of all) socket.resume() // or it would not hear of its end
    await until('four are closed', () => closedOf(all) >= 4)
    return all
  }
  const before = await gauge(marketplace.url, 'marketplace_http_connections')
  assert.ok(before >= 1 && before < 8)
  const many = await open(12, '127.0.0.2')
  assert.is((await fetch(`${marketplace.url}/readyz`)).status, 200)
  assert.is(closedOf(many), 4)
  const more = await open(8, '127.0.0.3')
  assert.ok(cuts().includes('connections') && cuts().includes('connections_of_address'))
  for (const { socket } of [...many, ...more]) socket.destroy()
  await until('they are gone', async () => (await gauge(marketplace.url, 'marketplace_http_connections')) <= before + 1)
})

test('behind a proxy the connections of one address are not counted, as all of them are its own', async () => {
  const marketplace = await openTestMarketplace({ trustProxy: 1, bounds: { ofAddress: 4 } })
  marketplaces.push(marketplace)
  const many = Array.from({ length: 10 }, () => ask(marketplace.url, ''))
  for (const { socket } of many) socket.resume()
  await until('all are open', async () => (await gauge(marketplace.url, 'marketplace_http_connections')) >= 10)
  assert.is(many.filter(({ closed }) => closed).length, 0)
  for (const { socket } of many) socket.destroy()
})

test.run()
