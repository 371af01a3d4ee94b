// engines: embedded; process: own
/** An object store: what it is given comes back, what may pass is tried again, and its refusals say what to check. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addressOf, type Bucket, type BucketOptions, openBucket } from '../../src/world/bucket.ts'
import { type Fault, startObjectStore } from '../support/object-store.ts'

const store = await startObjectStore()
const folder = await mkdtemp(join(tmpdir(), 'bucket-test-'))
const path = join(folder, 'file')
const bytes = Buffer.alloc(3_000_000, 'what is kept ')
await writeFile(path, bytes)
const bucket = await openBucket(store.bucket)

test.before.each(() => {
  store.faults.length = 0
  store.asked.length = 0
})

test.after(async () => {
  await bucket.close()
  await store.close()
  await rm(folder, { recursive: true })
})

const busy: Fault = (_, res) => res.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')
const cut: Fault = req => req.socket.destroy()
const silent: Fault = () => {}

const failure = (work: Promise<unknown>): Promise<Error & { code: string }> =>
  work.then(
    () => {
      throw new Error('it should have failed')
    },
    error => error,
  )

async function withBucket<T>(options: Partial<BucketOptions>, work: (bucket: Bucket) => Promise<T>): Promise<T> {
  const other = await openBucket({ ...store.bucket, ...options })
  return work(other).finally(() => other.close())
}

test('what is put comes back as the same bytes, and is gone once removed, as often as that is asked', async () => {
  await bucket.put('one', path)
  assert.ok((await buffer(await bucket.get('one'))).equals(bytes))
  assert.equal(await store.keys(), ['one'])
  await bucket.remove('one')
  await bucket.remove('one')
  assert.is((await failure(bucket.get('one'))).code, 'NoSuchKey')
  assert.equal(await store.keys(), [])
})

test('a store that is busy, or ends the connection, is asked again: up to four times', async () => {
  store.faults.push(busy, cut, busy)
  await bucket.put('two', path)
  assert.is(store.asked.length, 4)
  store.faults.push(cut, busy)
  assert.ok((await buffer(await bucket.get('two'))).equals(bytes))
  store.faults.push(busy, cut)
  await bucket.remove('two')
  assert.equal(await store.keys(), [])
  store.asked.length = 0
  store.faults.push(busy, busy, busy, busy, busy)
  const { code, message } = await failure(bucket.put('three', path))
  assert.is(code, 'SlowDown')
  assert.match(message, 'answered 503 (SlowDown)')
  assert.is(store.asked.length, 4)
})

test('what makes no sense to ask again is asked once', async () => {
  store.faults.push((_, res) => res.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>'))
  const { message } = await failure(bucket.remove('four'))
  assert.match(message, 's3:DeleteObject on market/files-of/a-test/*')
  assert.is(store.asked.length, 1)
})

test('a store that says nothing is given up, and one that stops in the middle does not pass for a whole file', async () => {
  await withBucket({ silenceMs: 300 }, async impatient => {
    store.faults.push(silent, silent, silent, silent)
    assert.match((await failure(impatient.put('five', path))).message, /can't be reached: .*imeout/)
    store.faults.push((_, res) => {
      res.writeHead(200, { 'content-length': 1000 })
      res.write('half of it')
    })
    await failure(impatient.get('five').then(buffer))
  })
})

test('whoever stops reading ends the connection', async () => {
  await bucket.put('six', path)
  const ended = new Promise<void>(resolve => {
    store.faults.push((req, res, serve) => {
      res.once('close', () => resolve())
      serve(req, res)
    })
  })
  const stream = await bucket.get('six')
  stream.on('error', () => {})
  stream.destroy()
  await ended
  await bucket.remove('six')
})

const late: Fault = (req, res, serve) => {
  req.headers['x-amz-date'] = '20200101T000000Z'
  serve(req, res)
}

const elsewhere: Fault = (_, res) => res.writeHead(301).end('<Error><Code>PermanentRedirect</Code></Error>')

const faults: [string, Partial<BucketOptions>, RegExp, Fault?][] = [
  ['a bucket that is absent', { name: 'nowhere' }, /no bucket nowhere\. Make it first/],
  ['a wrong secret', { secretAccessKey: 'not the secret' }, /SignatureDoesNotMatch.*Check AWS_ACCESS_KEY_ID and/],
  ['an unknown key', { accessKeyId: 'NOBODY' }, /InvalidAccessKeyId.*Check AWS_ACCESS_KEY_ID and/],
  ['a clock that is off', {}, /RequestTimeTooSkewed.*clock.*NTP/, late],
  ['a bucket of another region', {}, /another region than us-east-1\. Set AWS_REGION/, elsewhere],
  ['an address where nothing is', { endpoint: 'http://127.0.0.1:9' }, /can't be reached: .*Check AWS_ENDPOINT_URL_S3/],
  ['a store that is full of words', {}, /answered 418\.$/, (_, res) => res.writeHead(418).end('x'.repeat(1_000_000))],
]

for (const [what, options, words, fault] of faults) {
  test(`the proof at a start fails for ${what}, says what to check, and tells no secret`, async () => {
    if (fault) store.faults.push(fault)
    const { message } = await withBucket(options, other => failure(other.prove('check')))
    assert.match(message, words)
    assert.not.match(message, options.secretAccessKey ?? `:${store.bucket.secretAccessKey}@`)
    assert.equal(await store.keys(), [])
  })
}

test('the bucket stands in the host at Amazon, unless its name has a dot, and in the path everywhere else', () => {
  const at = (name: string, region: string, endpoint?: string) => addressOf({ name, region, endpoint }).href
  assert.is(at('market', 'eu-central-1'), 'https://market.s3.eu-central-1.amazonaws.com/')
  assert.is(at('market', 'cn-north-1'), 'https://market.s3.cn-north-1.amazonaws.com.cn/')
  assert.is(at('my.market', 'eu-central-1'), 'https://s3.eu-central-1.amazonaws.com/my.market/')
  assert.is(at('market', 'auto', 'https://store.example:9000'), 'https://store.example:9000/market/')
  assert.is(at('market', 'auto', 'http://store.example/s3/'), 'http://store.example/s3/market/')
})

test('the proof at a start leaves nothing behind', async () => {
  await bucket.prove('check')
  assert.equal(await store.keys(), [])
})

test.run()
