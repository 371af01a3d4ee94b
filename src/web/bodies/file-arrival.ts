/** Streams one file of an upload to the disk and validates it there. Source: A-22. */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { BusboyFileStream } from '@fastify/busboy'
import type { KeptFile } from '../../api/file-kinds.ts'
import { limits } from '../../api/limits.ts'
import type { Market } from '../../market/market.ts'
import { isSystemError, judgeFile, plainName } from './file-type.ts'

const { fileBytes: FILE_BYTES } = limits.deliverable

export interface Arrival {
  readonly stream: BusboyFileStream
  readonly path: string
  /** Resolves to the file, or to a sentence that says what is wrong with it. Rejects if the disk fails. */
  readonly end: Promise<KeptFile | string>
}

/** `count` is called with the length of each piece, before it is written. */
export function receiveFile(
  stream: BusboyFileStream,
  name: string,
  { files, world }: Market,
  count: (bytes: number) => void,
): Arrival {
  const id = world.id('file')
  const path = join(files.incoming, id)
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    count(chunk.length)
  })
  return { stream, path, end: receive(stream, name, { path, id, sizeOf: () => size }) }
}

interface Target {
  id: string
  path: string
  sizeOf: () => number
}

async function receive(
  stream: BusboyFileStream,
  given: string,
  { id, path, sizeOf }: Target,
): Promise<KeptFile | string> {
  const name = plainName(given)
  try {
    await write(stream, path)
  } catch (error) {
    if (isSystemError(error)) throw error
    return `${name ?? 'a file'}: it did not arrive whole (${(error as Error).message})`
  }
  if (name === null) return 'a file needs a plain name'
  if (stream.truncated) return `${name}: larger than ${FILE_BYTES} bytes`
  const size = sizeOf()
  const kind = await judgeFile(name, path, size)
  return typeof kind === 'string' ? kind : { id, name, mimeType: kind.mimeType, size }
}

/** Resolves when the file is closed; otherwise it could be created after its removal. */
async function write(stream: BusboyFileStream, path: string): Promise<void> {
  const file = createWriteStream(path, { mode: 0o600, flags: 'wx' })
  const closed = new Promise<void>(resolve => file.once('close', () => resolve()))
  try {
    await pipeline(stream, file)
  } finally {
    await closed
  }
}
