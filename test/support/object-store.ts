/** A real S3-compatible server in this process, which checks every signature, and can be made to fail. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import http, { type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import type { BucketOptions } from '../../src/world/bucket.ts'

/** `serve` answers as the store would. */
export type Fault = (...request: [...Parameters<RequestListener>, serve: RequestListener]) => void

export interface ObjectStore {
  /** Of a bucket that is there, with a prefix. */
  bucket: BucketOptions
  /** The same as a command line and an environment say it. */
  address: string
  env: Record<string, string>
  /** What the next requests get instead of an answer of the store; each serves one. */
  faults: Fault[]
  /** Method and path of each request that came, those that failed included. */
  asked: string[]
  /** Keys under the prefix. */
  keys(): Promise<string[]>
  close(): Promise<void>
}

/** The one key pair that the server knows. */
const KEY = 'S3RVER'

export async function startObjectStore(): Promise<ObjectStore> {
  const directory = await mkdtemp(join(tmpdir(), 'object-store-'))
  const store = new S3rver({ directory, silent: true, vhostBuckets: false, configureBuckets: [{ name: 'market' }] })
  await store.configureBuckets()
  const serve = store.callback()
  const faults: Fault[] = []
  const asked: string[] = []
  const server = http.createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`)
    const fault = faults.shift()
    if (fault) fault(req, res, serve)
    // It would serve those who don't sign at all.
    else if (req.headers.authorization === undefined) res.writeHead(403).end()
    else serve(req, res)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const bucket = {
    name: 'market',
    prefix: 'files of/a test/'.replaceAll(' ', '-'),
    region: 'us-east-1',
    endpoint,
    accessKeyId: KEY,
    secretAccessKey: KEY,
    // Faults are many here, and nobody waits for them to pass.
    firstPauseMs: 5,
  }
  const folder = join(directory, 'market', bucket.prefix)
  // It removes a folder that is empty when an object goes, together with the object that comes at this moment.
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'never-empty'), '')
  return {
    bucket,
    address: `s3://market/${bucket.prefix}?endpoint=${endpoint}`,
    env: { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY },
    faults,
    asked,
    async keys() {
      // It keeps each object as three files: its content and what is known of it.
      const names = await readdir(folder).catch(() => [])
      return names.filter(name => name.endsWith('_object')).map(name => name.replace(/\._S3rver_object$/, ''))
    },
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      store.logger.exceptions.unhandle()
      store.logger.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
