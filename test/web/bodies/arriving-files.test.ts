// engines: embedded, postgres at length; process: shared
/** Files whose uploads go on are bounded on the disk: by the quota of their account, for one account and in all. Source: A-245. */
import { readdir, stat } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Refusal } from '../../../src/api/failures.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import { ArrivingFiles } from '../../../src/web/bodies/arriving-files.ts'
import { openTestMarketplace, type TestMarketplace, type TestUser } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'

const MB = 1024 * 1024
const GB = 1024 * MB

test('one account holds an eighth of all, and one upload in any case; beyond all, the largest account gives way', () => {
  const log: LogEntry[] = []
  const files = new ArrivingFiles(GB, line => log.push(line))
  const given: string[] = []
  const begin = (userId: string, used = 0, quota = GB) =>
    files.begin(
      { userId, used, quota, inWords: 'what it may' },
      () => `address of ${userId}`,
      () => given.push(userId),
    )
  const codeOf = (refusal: Refusal | null) => refusal?.code ?? null
  const one = begin('a')
  assert.is(codeOf(one.add(128 * MB)), null)
  assert.is(codeOf(begin('a').add(1)), 'unsent_bodies')
  for (const name of 'bcdefgh') begin(name).add((name === 'b' ? 127 : 128) * MB)
  assert.is(files.total, GB - MB)
  const late = begin('late')
  assert.is(codeOf(late.add(2 * MB)), null)
  assert.equal([given, files.total], [['a'], GB - MB - 126 * MB])
  assert.equal(log, [{ type: 'cut_off', reason: 'arriving_files', address: 'address of a' }])
  one.end()
  late.end()
  assert.is(files.total, 7 * 128 * MB - MB)
  const refusal = new ArrivingFiles(1, () => {}).begin(
    { userId: 'a', used: 0, quota: GB, inWords: '1 GiB' },
    String,
    () => {},
  )
  assert.is(codeOf(refusal.add(50 * MB)), null, 'however small all is')
  assert.is(codeOf(refusal.add(1)), 'unsent_bodies')
})

test('what arrives and what is stored stay within the quota of the account together', () => {
  const files = new ArrivingFiles(GB, () => {})
  const begin = () => files.begin({ userId: 'a', used: 3 * MB, quota: 5 * MB, inWords: '5 MiB' }, String, () => {})
  const [one, other] = [begin(), begin()]
  assert.is(one.add(MB), null)
  assert.is(other.add(MB), null)
  assert.match(other.add(1)!.message, 'The files of one account take at most 5 MiB, and yours take 5 MiB')
  one.end()
  assert.is(other.add(MB), null)
})

/** Tasks in progress of one builder, and what sends the beginning of an upload to one of them. */
async function furnish(marketplace: TestMarketplace, name: string) {
  const buyer = await marketplace.join(`buyer-${name}`, 5_000)
  const builder: TestUser = await marketplace.join(name)
  const { id } = await marketplace.draft(buyer, await marketplace.list(builder))
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await builder.call('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key')
  const open = (sizes: readonly number[]) => {
    const socket = net.connect(Number(new URL(marketplace.url).port), '127.0.0.1')
    let answer = ''
    const ended = new Promise<string>(resolve => {
      socket.on('data', chunk => {
        answer += chunk
        if (answer.includes('"success"')) resolve(answer)
      })
      socket.on('error', () => {}).on('close', () => resolve(answer))
    })
    const parts = sizes.map(
      (size, i) =>
        `--b\r\nContent-Disposition: form-data; name="files"; filename="${i}.csv"\r\n\r\n${'a'.repeat(size)}\r\n`,
    )
    socket.write(
      `POST /api/agent/tasks/${id}/deliver HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${builder.key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${50 * MB}\r\n\r\n${parts.join('').slice(0, -2)}`,
    )
    return { socket, ended }
  }
  return { open, buyer, builder, id }
}

const incoming = async ({ market }: TestMarketplace) => {
  const folder = market.files.incoming
  const sizes = (await readdir(folder)).map(async name => (await stat(join(folder, name)).catch(() => null))?.size ?? 0)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

const gauge = async ({ url }: TestMarketplace) =>
  Number(/^marketplace_http_arriving_file_bytes (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())![1])

test('twenty open uploads of one key leave no more on the disk than its quota, and those beyond it are told so', async () => {
  const marketplace = await openTestMarketplace({ keeping: { fileMiB: 1 } })
  const { open } = await furnish(marketplace, 'builder')
  const uploads: ReturnType<typeof open>[] = []
  let refused = 0
  for (let n = 0; n < 20; n++) {
    const upload = open([100_000])
    uploads.push(upload)
    if (n < 10) await until('it has come', async () => (await gauge(marketplace)) === (n + 1) * 100_000)
    else if (/^HTTP\/1\.1 400 [\s\S]*The files of one account take at most 1 MiB/.test(await upload.ended)) refused++
  }
  assert.is(refused, 10)
  await until('the refused ones are removed', async () => (await incoming(marketplace)) === 1_000_000)
  for (const { socket } of uploads) socket.destroy()
  await until('nothing is left', async () => (await gauge(marketplace)) === 0 && (await incoming(marketplace)) === 0)
  await marketplace.close(0)
})

test('where all is full, the account that holds most is cut off, its files are removed, and the other delivers', async () => {
  const log: LogEntry[] = []
  const marketplace = await openTestMarketplace({ log: line => log.push(line), bounds: { uploadMegabytes: 50 } })
  const [large, small] = [await furnish(marketplace, 'large'), await furnish(marketplace, 'small')]
  const hog = large.open(Array(5).fill(9 * MB))
  await until('it has come', async () => (await gauge(marketplace)) > 44 * MB)
  const form = new FormData()
  form.append('files', new Blob([Buffer.alloc(8 * MB, 'a')]), 'a.csv')
  const path = `${marketplace.url}/api/agent/tasks/${small.id}/deliver`
  const headers = { authorization: `Bearer ${small.builder.key}` }
  assert.is((await fetch(path, { method: 'POST', headers, body: form })).status, 200)
  assert.match(await hog.ended, /^HTTP\/1\.1 500 [\s\S]*retry-after: 5\r\n[\s\S]*Too much is asked of the marketplace/i)
  assert.is(log.filter(line => line.type === 'cut_off' && line.reason === 'arriving_files').length, 1)
  hog.socket.destroy()
  await until('nothing is left', async () => (await gauge(marketplace)) === 0 && (await incoming(marketplace)) === 0)
  await marketplace.close(0)
})

test.run()
