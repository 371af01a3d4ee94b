// engines: embedded; process: own; lengths: short, long
/** Each call to the disk fails once, at each step of a start: it is refused or works, and the next one finds everything. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openMarketplace } from '../../src/open/open.ts'
import { loadAhead } from '../../src/web/load-ahead.ts'
import { createVirtualWorld } from '../../src/world/virtual.ts'
import { type FaultCode, openFilesIn, withFault } from '../support/file-faults.ts'
import { isLong } from '../support/length.ts'
import { openTestMarketplace } from '../support/marketplace.ts'

const CODES: readonly FaultCode[] = isLong ? ['ENOSPC', 'EIO', 'EMFILE', 'ENOENT'] : ['EIO']
/** More calls than a start makes. */
const MOST = 200

const uncaught: string[] = []
process.on('unhandledRejection', error => uncaught.push(String((error as Error)?.stack ?? error)))
process.on('uncaughtException', error => uncaught.push(String(error.stack)))

// As a deployment does at its start: an import that failed once would go on failing.
await loadAhead({ mail: null })

const world = createVirtualWorld()

test('a start during which a call fails is refused or works, and leaves nothing open', async () => {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-faults-'))
  let starts = 0
  for (const code of CODES) {
    for (let nth = 1; nth < MOST; nth++) {
      let opened = true
      const { call } = await withFault(nth, code, async () => {
        const options = { mode: 'dev' as const, file: null, filesFolder: place, world: world }
        const other = await openMarketplace(options).catch(() => null)
        opened = other !== null
        if (!other) return
        assert.is((await fetch(`${other.url}/readyz`)).status, 200)
        await other.close(0).catch(() => {}) // a folder that can't be emptied
      })
      starts++
      assert.is(openFilesIn(place), 0, `${call}`)
      assert.equal(uncaught, [], `${call}`)
      if (call === null) {
        assert.ok(opened)
        break
      }
    }
  }
  assert.ok(starts > 2 * CODES.length, String(starts))
  rmSync(place, { recursive: true })
})

/** The calls that end so on a real system: nothing is closed for want of space, or read for want of a descriptor. */
const CALLS: Partial<Record<FaultCode, RegExp>> = {
  EIO: /./,
  ...(isLong && {
    ENOSPC: /open|rename|mkdir|mkdtemp|write|sync$|truncate/,
    EMFILE: /open|readdir|readFile|writeFile/,
  }),
}

/** What a process leaves that was ended while it wrote: a database, its journal and its key. */
async function killedProcess(): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-faults-'))
  const left = mkdtempSync(join(tmpdir(), 'marketplace-faults-'))
  const writer = await openTestMarketplace({ file: join(place, 'market.db') })
  await writer.join('buyer', 500)
  for (const name of readdirSync(place).filter(name => /^market\.db(?:\.journal|\.key)?$/.test(name)))
    cpSync(join(place, name), join(left, name))
  await writer.close()
  rmSync(place, { recursive: true })
  return left
}

/** A start with what `left` holds. Throws a sentence, or ends again; with how many users it found. */
async function startOn(place: string): Promise<number> {
  const file = join(place, 'market.db')
  const other = await openMarketplace({ mode: 'dev', file, world: world, onFatal: () => {} })
  try {
    assert.is((await fetch(`${other.url}/readyz`)).status, 200)
    const count = 'SELECT COUNT(*) AS count FROM users'
    return (await other.market.db.read(q => q.get<{ count: number }>(count)))!.count
  } finally {
    await other.close(0).catch(() => {})
  }
}

test('a start on the files of a killed process during which a call fails is refused or works, and the next one finds everything', async () => {
  const left = await killedProcess()
  const seen = new Set<string>()
  for (const [code, among] of Object.entries(CALLS) as [FaultCode, RegExp][]) {
    for (let nth = 1; nth < MOST; nth++) {
      const place = mkdtempSync(join(tmpdir(), 'marketplace-faults-'))
      cpSync(left, place, { recursive: true })
      let found: number | Error = 0
      const work = async () => {
        found = await startOn(place).catch(error => error as Error)
      }
      const { call } = await withFault(nth, code, work, place, among)
      const told = `${call} (${nth}, ${code}): ${found}`
      if ((found as number | Error) instanceof Error) assert.ok((found as unknown as Error).message.length > 10, told)
      assert.is(openFilesIn(place), 0, told)
      assert.equal(uncaught, [], told)
      assert.is(await startOn(place), 2, told)
      rmSync(place, { recursive: true })
      if (call === null) {
        assert.is(found, 2, told)
        break
      }
      seen.add(call)
    }
  }
  for (const call of ['openSync', 'readSync', 'writeSync', 'closeSync', 'promises.rm', 'handle.sync'])
    assert.ok(seen.has(call), [...seen].join())
  rmSync(left, { recursive: true })
})

test.run()
