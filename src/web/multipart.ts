/** Receives a multipart body: fields in memory, files streamed to the disk and judged there. Source: section 4, D21, D22. */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy'
import { type FieldErrors, invalid, refuse } from '../api/failures.ts'
import type { KeptFile } from '../api/file-kinds.ts'
import { limits } from '../api/limits.ts'
import { keepFiles } from '../market/files.ts'
import type { Market } from '../market/market.ts'
import { Gone } from './answer.ts'
import { judgeFile, plainName } from './file-judge.ts'

const { files: MAX_FILES, fileBytes: FILE_BYTES } = limits.deliverable
const FIELD_BYTES = 4 * limits.deliverable.content[1]
/** Files and fields at their largest, with room for the boundaries between them. */
const BODY_BYTES = MAX_FILES * FILE_BYTES + limits.jsonBytes

export interface Upload {
  readonly fields: Readonly<Record<string, string>>
  readonly files: readonly KeptFile[]
}

interface Arrived {
  readonly stream: BusboyFileStream
  readonly path: string
  /** What is wrong with it, or what it is. */
  readonly end: Promise<KeptFile | string>
}

/** The files are kept when it resolves: whoever refuses them later drops them. Nothing is left behind if it rejects. */
export async function receiveUpload(req: IncomingMessage, market: Market): Promise<Upload> {
  if (Number(req.headers['content-length']) > BODY_BYTES) throw refuse('body_too_large', BODY_BYTES)
  const arrived: Arrived[] = []
  try {
    const { fields, problems } = await parse(req, market, arrived)
    const ends = await Promise.all(arrived.map(({ end }) => end))
    const files = ends.filter(end => typeof end !== 'string')
    const faults = [...problems, ...ends.filter(end => typeof end === 'string')]
    if (faults.length > 0) throw invalid({ files: faults } satisfies FieldErrors)
    await keepFiles(
      market,
      files.map(({ id }, i) => ({ id, path: arrived[i]!.path })),
    )
    return { fields, files }
  } catch (error) {
    await Promise.allSettled(arrived.map(({ end }) => end))
    throw error
  } finally {
    for (const { path } of arrived) await rm(path, { force: true })
  }
}

interface Parsed {
  fields: Record<string, string>
  problems: string[]
}

function parse(req: IncomingMessage, { files, world }: Market, arrived: Arrived[]): Promise<Parsed> {
  const parser = parserOf(req)
  const fields: Record<string, string> = Object.create(null)
  const problems: string[] = []
  let broken = false
  parser.on('field', (name, value, nameCut, valueCut) => {
    // A value that was cut is over every limit of a field; its shape then says so.
    if (!nameCut) fields[name] = valueCut ? `${value}…` : value
  })
  parser.on('file', (field, stream, fileName = '') => {
    if (field === 'files' && !broken) arrived.push(take(stream, fileName, files.incoming, world.id('file')))
    else stream.on('error', () => {}).resume()
  })
  parser.on('filesLimit', () => problems.push(`at most ${MAX_FILES} files`))
  return new Promise((resolve, reject) => {
    let size = 0
    const fail = (error: Error) => {
      broken = true
      req.unpipe(parser)
      parser.destroy()
      for (const { stream } of arrived) stream.destroy(error)
      reject(error)
    }
    const gone = () => {
      if (!req.complete) fail(new Gone('The client left'))
    }
    parser
      .on('error', error => fail(refuse('bad_request', `The multipart body is broken: ${(error as Error).message}`)))
      .once('finish', () => resolve({ fields, problems }))
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > BODY_BYTES) fail(refuse('body_too_large', BODY_BYTES))
    })
    req.once('error', gone).once('close', gone).pipe(parser)
  })
}

function parserOf({ headers }: IncomingMessage) {
  try {
    const parser = new Busboy({
      headers: headers as BusboyHeaders,
      limits: {
        fieldNameSize: 100,
        fieldSize: FIELD_BYTES,
        fields: 20,
        files: MAX_FILES,
        fileSize: FILE_BYTES,
        headerPairs: 20,
      },
    })
    letSkippedPartsFlow(parser)
    return parser
  } catch (error) {
    throw refuse('bad_request', `The multipart body can't be read: ${(error as Error).message}`)
  }
}

interface Part {
  _read(): void
  on(event: 'end', listener: () => void): void
}

interface Splitter {
  on(event: 'part', listener: (part: Part) => void): void
  _unpause(): void
}

// Busboy waits for ever once it skips a part that is larger than its buffer: a file too many, or a part without a name.
// Whoever empties a part has to tell the splitter below that there is room again.
function letSkippedPartsFlow(parser: InstanceType<typeof Busboy>) {
  const splitter = (parser as unknown as { _parser?: { parser?: Splitter } })._parser?.parser
  splitter?.on('part', part => {
    part._read = () => splitter._unpause()
    part.on('end', () => splitter._unpause())
  })
}

function take(stream: BusboyFileStream, fileName: string, incoming: string, id: string): Arrived {
  const path = join(incoming, id)
  return { stream, path, end: arrive(stream, fileName, path, id) }
}

async function arrive(stream: BusboyFileStream, given: string, path: string, id: string): Promise<KeptFile | string> {
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
  })
  const file = createWriteStream(path, { mode: 0o600, flags: 'wx' })
  const closed = once(file, 'close')
  try {
    await pipeline(stream, file)
  } catch (error) {
    await closed // or the file could still be made after it was removed
    return `${given.slice(0, 100)}: it did not arrive whole (${(error as Error).message})`
  }
  const name = plainName(given)
  if (name === null) return 'a file needs a plain name'
  if (stream.truncated) return `${name}: larger than ${FILE_BYTES} bytes`
  const kind = await judgeFile(name, path, size)
  return typeof kind === 'string' ? kind : { id, name, mimeType: kind.mimeType, size }
}
