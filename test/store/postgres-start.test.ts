// engines: postgres; process: own
/** The connections to Postgres are cut once, at each of its answers to a start: it is refused or works, and the next one finds everything. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openMarketplace } from '../../src/open/open.ts'
import { createVirtualWorld } from '../../src/world/virtual.ts'
import { freshDatabase } from '../support/databases.ts'
import { until } from '../support/patience.ts'

/** More answers than a start waits for. */
const MOST = 400

const uncaught: string[] = []
process.on('unhandledRejection', error => uncaught.push(String((error as Error)?.stack ?? error)))
process.on('uncaughtException', error => uncaught.push(String(error.stack)))

/** Stands before a Postgres. `cutAt(n)` loses the n-th piece that it says, and ends all connections of that moment. */
async function startCutter(url: string) {
  const sockets = new Set<net.Socket>()
  let left = 0
  let hasCut = false
  const server = net.createServer(client => {
    const { hostname, port } = new URL(url)
    const far = net.connect(Number(port), hostname)
    for (const socket of [client, far]) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          client.destroy()
          far.destroy()
        })
    }
    client.pipe(far)
    far.on('data', piece => {
      if (left === 0 || --left > 0) return client.write(piece)
      hasCut = true
      for (const socket of sockets) socket.destroy()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const through = new URL(url)
  through.port = String((server.address() as net.AddressInfo).port)
  return {
    url: through.href,
    cutAt(nth: number) {
      left = nth
      hasCut = false
    },
    get hasCut() {
      return hasCut
    },
    /** Once those that were closed are gone. */
    async open() {
      await until('the end of those that were closed', () => sockets.size === 0)
      return sockets.size
    },
    close: () => server.close(),
  }
}

const world = createVirtualWorld()
const secretKey = randomBytes(32).toString('base64')
const filesFolder = mkdtempSync(join(tmpdir(), 'marketplace-start-'))
const start = (url: string) =>
  openMarketplace({ mode: 'dev', file: null, filesFolder, postgres: { url }, secretKey, world })
test.after(() => rmSync(filesFolder, { recursive: true }))

/** Starts until one is not cut any more. Returns what was said of the starts that were refused. */
async function cutEachAnswer(url: string): Promise<string[]> {
  const cutter = await startCutter(url)
  const refusals: string[] = []
  for (let nth = 1; nth < MOST; nth++) {
    cutter.cutAt(nth)
    const opened = await start(cutter.url).catch(error => error as Error)
    const { hasCut } = cutter
    cutter.cutAt(0)
    if (opened instanceof Error) refusals.push(opened.message)
    else {
      // It works, or finds Postgres again.
      for (let i = 0; i < 500 && !(await fetch(`${opened.url}/readyz`)).ok; i++) world.tick(1_000)
      assert.is((await fetch(`${opened.url}/readyz`)).status, 200, `after answer ${nth}`)
      await opened.close(0)
    }
    assert.is(await cutter.open(), 0, `connections are left after answer ${nth}`)
    assert.equal(uncaught, [], `after answer ${nth}`)
    if (hasCut) continue
    assert.not.instance(opened, Error, String(opened))
    cutter.close()
    return refusals
  }
  throw new Error(`a start waited for more than ${MOST} answers`)
}

for (const migrated of [false, true]) {
  test(`a start on ${migrated ? 'a used' : 'an empty'} Postgres that is cut off at any answer is refused or works, and leaves no connection`, async () => {
    const { url, drop } = await freshDatabase({ migrated })
    const refusals = await cutEachAnswer(url)
    assert.ok(refusals.length > 3, String(refusals.length))
    for (const words of refusals) assert.match(words, /[Pp]ostgres/, words)
    const after = await start(url)
    assert.is((await fetch(`${after.url}/readyz`)).status, 200)
    await after.close(0)
    await drop()
  })
}

test.run()
