// engines: embedded, postgres; process: own; lengths: long
/** The key that seals secrets is rotated by a program that is killed amid it, again and again: at each moment every secret can be opened. Source: A-8. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { keyId, seal, unseal } from '../../src/market/sealing.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import type { Db, Reader } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { checkFile } from '../../src/store/embedded/verify.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { agents } from '../../src/store/tables/agents/agents.ts'
import type { World } from '../../src/world/world.ts'
import { inFolder, start } from '../cli/program.ts'
import { unexpected } from '../store/folder.ts'
import { engine, freshDatabase } from '../support/databases.ts'
import { startObjectStore } from '../support/object-store.ts'
import { until } from '../support/patience.ts'

/** Some dozen transactions' worth: a rotation takes long enough to be seen amid it. */
const SECRETS = 4_000
const KILLS = 3
const ADMIN = { email: 'root@example.com', password: 'root of a test' }
const BUILDER = { email: 'builder@example.com', password: 'builder of a test', name: 'A Builder', isBuilder: true }

const newKey = () => randomBytes(32).toString('base64')
const bytesOf = (keys: string) =>
  keys
    .trim()
    .split(/[\n,]/)
    .map(key => Buffer.from(key, 'base64'))
const idOf = (key: string) => keyId(Buffer.from(key, 'base64'))
const secretOf = (n: number) => `secret ${n}`
const sealedId = (n: number) => `agt_sealed_${n}`

/** Where files are: instances of one database share a bucket. */
interface Files {
  env: Record<string, string>
  address: string
}

async function serve(folder: string, db: string, keys?: string, files?: Files) {
  const env = { ...files?.env, MARKETPLACE_ADMIN_EMAIL: ADMIN.email, MARKETPLACE_ADMIN_PASSWORD: ADMIN.password }
  const given = keys === undefined ? {} : { MARKETPLACE_SECRET_KEY: keys }
  const flags = [
    '--db',
    db,
    '--port',
    '0',
    '--payments',
    'sandbox',
    '--rate-limits',
    'off',
    '--json',
    ...(files ? ['--files', files.address] : []),
  ]
  const { child, ended, firstLine } = start(['serve', ...flags], folder, { ...env, ...given })
  const line = await firstLine.catch(async () => {
    const { out, err } = await ended
    throw new Error(`It did not start: ${out}${err}`)
  })
  const { url } = JSON.parse(line) as { url: string }
  const admin = new HttpUser(url)
  await admin.client.login(ADMIN)
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  return { url, admin, end }
}

type Served = Awaited<ReturnType<typeof serve>>

/** Agents whose secrets are sealed with this key, as rows. */
async function furnish(db: Db, key: Buffer): Promise<void> {
  const world = { bytes: randomBytes } as unknown as World
  const { id } = (await db.read(q => q.get<{ id: string }>('SELECT id FROM users WHERE email = $1', [BUILDER.email])))!
  const row = (n: number) => ({
    ...{
      id: sealedId(n),
      slug: `sealed-${n}`,
      builderId: id,
      name: 'Sealed',
      tagline: 'A row',
      description: 'A row of a test.',
    },
    ...{ pricingModel: 'fixed' as const, basePrice: 500, turnaroundHours: 1, tags: '[]', status: 'draft' as const },
    ...{ createdAt: 1, updatedAt: 1, secret: seal(world, { secretKey: key }, sealedId(n), secretOf(n)) },
  })
  for (let from = 0; from < SECRETS; from += 100) {
    await db.write(tx =>
      agents.insertAll(
        tx,
        Array.from({ length: 100 }, (_, i) => row(from + i)),
      ),
    )
  }
}

/** Which keys have sealed them. Throws unless these keys open each. */
async function sealsIn(q: Reader, keys: string): Promise<Set<string>> {
  const [secretKey, ...otherSecretKeys] = bytesOf(keys)
  const rows = await q.all<{ id: string; secret: string }>(`SELECT id, secret FROM agents WHERE slug LIKE 'sealed-%'`)
  assert.is(rows.length, SECRETS)
  for (const { id, secret } of rows) {
    const opened = unseal({ secretKey: secretKey!, otherSecretKeys }, id, secret)
    assert.is(opened, secretOf(Number(id.split('_')[2])))
  }
  return new Set(rows.map(({ secret }) => secret.split('.')[0]!))
}

/** Begins to rotate, and kills the server when some secrets have the new key and some the old one. */
async function killAmid({ admin, end }: Served): Promise<void> {
  const sealedAnew = async () => {
    const { keys } = await admin.client.adminSecretKey()
    return keys.length > 1 ? keys.find(({ seals }) => seals)!.sealed : 0
  }
  const before = await sealedAnew()
  let rotating = true
  const rotation = admin.client.rotateSecretKey().then(
    ({ done }) => done,
    () => null,
  )
  void rotation.then(() => {
    rotating = false
  })
  await until(
    'a part that is sealed anew',
    async () => {
      const now = await sealedAnew()
      if (!rotating) throw new Error('it was done before it was seen amid it')
      return now > before && now < SECRETS
    },
    1,
  )
  await end('SIGKILL')
  await rotation
}

async function rotated({ admin }: Served): Promise<void> {
  await until('the end of the rotation', async () => (await admin.client.rotateSecretKey()).done)
}

if (engine === 'embedded')
  test(
    'a file: both keys are in the key file until all is sealed anew, however often it is killed',
    inFolder(async folder => {
      const file = join(folder, 'market.db')
      const keys = () => readFileSync(`${file}.key`, 'utf8')
      let served = await serve(folder, file)
      await new HttpUser(served.url).client.register(BUILDER)
      await served.end('SIGTERM')
      const db = await openSqlite({ file, onFatal: unexpected })
      await furnish(db, bytesOf(keys())[0]!)
      await db.close()
      for (let kill = 0; kill < KILLS; kill++) {
        served = await serve(folder, file)
        await killAmid(served)
        assert.is(bytesOf(keys()).length, 2)
        const { ok, problems, db } = await checkFile(file)
        assert.ok(ok && db, problems.join())
        assert.is((await sealsIn(db, keys())).size, 2)
        served = await serve(folder, file)
        // What is left is sealed anew, and the next rotation begins with another key.
        await rotated(served)
        assert.is(bytesOf(keys()).length, 1)
        await served.end('SIGTERM')
        const after = await checkFile(file)
        assert.equal([...(await sealsIn(after.db!, keys()))], [idOf(keys().trim())])
      }
    }),
  )

if (engine === 'postgres')
  test(
    'two instances, one with the old key first and one with the new: each opens what the other has sealed, also while one rotates and is killed',
    inFolder(async folder => {
      const { url, drop } = await freshDatabase()
      const [old, next] = [newKey(), newKey()]
      const store = await startObjectStore()
      const serveBy = (keys: string) => serve(folder, url, keys, store)
      let first = await serveBy(old)
      const builder = new HttpUser(first.url)
      await builder.client.register(BUILDER)
      const db = await openPostgres({ url })
      await furnish(db, bytesOf(old)[0]!)
      await first.end('SIGTERM')
      first = await serveBy(`${old},${next}`)
      let second = await serveBy(`${next},${old}`)
      let people = 0
      /** Somebody whose second factor is sealed by one, opened by the other, and still there when it is sealed anew. */
      const both = async (one: Served, other: Served) => {
        const person = { email: `p${++people}@example.com`, password: 'somebody of a test', name: 'Somebody' }
        const there = new HttpUser(one.url)
        await there.client.register(person)
        const { secret } = await there.client.beginTotp({ password: person.password })
        const here = new HttpUser(other.url)
        await here.client.login(person)
        await here.client.confirmTotp({ code: totpCode(secret, Date.now()) })
        return () => new HttpUser(first.url).client.login({ ...person, totp: totpCode(secret, Date.now() + 30_000) })
      }
      const signIns: (() => Promise<unknown>)[] = []
      for (let kill = 0; kill < KILLS; kill++) {
        signIns.push(await both(first, second), await both(second, first))
        await killAmid(second)
        const seals = await db.read(q => sealsIn(q, `${old},${next}`))
        assert.is(seals.size, 2)
        signIns.push(await both(first, first))
        second = await serveBy(`${next},${old}`)
        if (kill < KILLS - 1) await db.write(tx => tx.run('DELETE FROM agents WHERE secret IS NOT NULL').then(() => {}))
        if (kill < KILLS - 1) await furnish(db, bytesOf(old)[0]!)
      }
      await rotated(second)
      assert.equal([...(await db.read(q => sealsIn(q, next)))], [idOf(next)])
      await first.end('SIGTERM')
      first = await serveBy(`${next},${old}`)
      for (const signIn of signIns) await signIn()
      await rotated(second)
      const { keys } = await second.admin.client.adminSecretKey()
      assert.equal(
        keys.map(({ id, sealed, canGo }) => [id, sealed > 0, canGo]),
        [
          [idOf(next), true, false],
          [idOf(old), false, true],
        ],
      )
      for (const { end } of [first, second]) await end('SIGTERM')
      const alone = await serveBy(next)
      await alone.end('SIGTERM')
      await db.close()
      await store.close()
      await drop()
    }),
  )

test.run()
