// engines: postgres; process: shared
/** Instances on one database keep uploaded files where all can serve them, or the second is refused at its start. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Marketplace, openMarketplace } from '../../../src/open/open.ts'
import type { OpenOptions } from '../../../src/open/options.ts'
import { createVirtualWorld, type VirtualWorld } from '../../../src/world/virtual.ts'
import { freshDatabase } from '../../support/databases.ts'
import { startObjectStore } from '../../support/object-store.ts'

const store = await startObjectStore()
const secretKey = randomBytes(32).toString('base64')
const { bucket } = store

test.after(() => store.close())

interface Opened extends Marketplace {
  world: VirtualWorld
  fatal: string[]
}

/** `open` makes an instance on a database of this test's own. */
const onOneDatabase = (
  work: (open: (options?: Partial<OpenOptions>) => Promise<Opened>, folder: string) => unknown,
) => {
  return async () => {
    const { url, drop } = await freshDatabase()
    const folder = await mkdtemp(join(tmpdir(), 'places-'))
    const all: Opened[] = []
    let count = 0
    const open = async (options: Partial<OpenOptions> = {}) => {
      const world = createVirtualWorld({ seed: `instance ${count++}` })
      const fatal: string[] = []
      const onFatal = ({ message }: Error) => void fatal.push(message)
      const postgres = { url, poolSize: 2 }
      const base = { mode: 'dev' as const, file: null, postgres, secretKey, world, onFatal, holder: 'the first one' }
      const made = { ...(await openMarketplace({ ...base, ...options })), world, fatal }
      all.push(made)
      return made
    }
    try {
      await work(open, folder)
    } finally {
      await Promise.all(all.map(one => one.close(0)))
      await drop()
      await rm(folder, { recursive: true })
    }
  }
}

const refusal = (opening: Promise<Opened>) =>
  opening.then(
    () => 'it was opened',
    ({ message }: Error) => message,
  )

const WORDS =
  /^Another instance on this database \(the first one, process \d+ of .+\) keeps uploaded files in (.+), this one in (.+): .* the same object store, --files s3:\/\/bucket\/prefix, .* ends at 2026-01-01T00:00:30\.000Z\.$/

test(
  'a second instance with a folder is refused: who has it, what to do, and until when',
  onOneDatabase(async (open, folder) => {
    await open({ filesFolder: join(folder, 'a') })
    for (const filesFolder of [join(folder, 'a'), join(folder, 'b'), undefined]) {
      const [, theirs, ours] = (await refusal(open({ filesFolder }))).match(WORDS) ?? []
      assert.equal([theirs, ours], ['a folder of its own machine', 'a folder of its own machine'])
    }
  }),
)

test(
  'a mix is refused, in either order, and so are two object stores',
  onOneDatabase(async (open, folder) => {
    const local = await open({ filesFolder: folder })
    assert.match(await refusal(open({ bucket })), /a folder of its own machine, this one in s3:\/\/market\/files/)
    await local.close(0)
    await open({ bucket })
    assert.match(await refusal(open({ filesFolder: folder })), /s3:\/\/market\/files.*, this one in a folder/)
    assert.match(
      await refusal(open({ bucket: { ...bucket, prefix: 'other/' } })),
      /, this one in s3:\/\/market\/other\//,
    )
  }),
)

test(
  'any number of instances share an object store',
  onOneDatabase(async open => {
    for (const { fatal } of await Promise.all([open({ bucket }), open({ bucket }), open({ bucket })])) {
      assert.equal(fatal, [])
    }
  }),
)

test(
  'of several that start at the same moment with folders of their own, one is opened',
  onOneDatabase(async (open, folder) => {
    await (await open({ bucket })).close(0)
    const answers = await Promise.all(['a', 'b', 'c'].map(name => refusal(open({ filesFolder: join(folder, name) }))))
    assert.is(answers.filter(answer => answer === 'it was opened').length, 1, answers.join('\n'))
    assert.is(answers.filter(answer => WORDS.test(answer)).length, 2, answers.join('\n'))
  }),
)

test(
  'a claim is given back at the end, kept while the instance lives, and over half a minute after it was killed',
  onOneDatabase(async (open, folder) => {
    const first = await open({ filesFolder: join(folder, 'a') })
    await first.close(0)
    const second = await open({ filesFolder: join(folder, 'b') })
    const untilOf = async () =>
      (await second.market.db.read(q => q.get<{ until: number }>('SELECT leased_until AS until FROM file_locations')))!
        .until
    const began = await untilOf()
    for (const _ of [1, 2, 3, 4]) {
      const before = await untilOf()
      second.world.tick(10_000)
      while ((await untilOf()) === before) await new Promise(resolve => setTimeout(resolve, 5))
    }
    assert.is((await untilOf()) - began, 40_000)
    assert.equal(second.fatal, [])
    // Its clock stands still from here on: to the others it is as good as dead.
    const world = createVirtualWorld({ seed: 'later' })
    world.tick(69_000)
    assert.match(await refusal(open({ filesFolder: join(folder, 'c'), world })), /ends at 2026-01-01T00:01:10\.000Z/)
    world.tick(1_001)
    await open({ filesFolder: join(folder, 'c'), world })
    second.world.tick(10_000)
    while (second.fatal.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
    assert.match(second.fatal[0]!, /^Another instance on this database .* this one in a folder/)
  }),
)

test.run()
