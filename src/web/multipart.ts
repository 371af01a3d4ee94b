/** Receives a multipart body: fields in memory, files streamed to the disk and judged there. Source: I-agent-routes, A-21, A-22. */
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyConfig, type BusboyHeaders } from '@fastify/busboy'
import type * as z from 'zod'
import { invalid, refuse } from '../api/failures.ts'
import type { KeptFile } from '../api/file-kinds.ts'
import { limits } from '../api/limits.ts'
import type { Market } from '../market/market.ts'
import { keepFiles } from '../market/tasks/files.ts'
import { Gone, hasLeft, invite, type Reading } from './body.ts'
import { watchPace } from './body-pace.ts'
import { type Arrival, receiveFile } from './file-arrival.ts'
import type { Call } from './response.ts'

const { files: MAX_FILES, fileBytes: FILE_BYTES } = limits.deliverable
const FIELD_BYTES = 4 * limits.deliverable.content[1]
const MAX_FIELDS = 20
/** Empty ones count: ten bodies of 25 MB of nothing else kept everybody waiting for half a minute. */
const MAX_PARTS = MAX_FILES + MAX_FIELDS + 5
/** Of one part. A name of 255 characters has 4 KB at most in each of its two forms. */
const HEADER_BYTES = 16 * 1024
/** Files and fields at their largest, with room for the boundaries between them. */
const BODY_BYTES = MAX_FILES * FILE_BYTES + limits.jsonBytes
/** A part of this type is a file, whether it has a name or not. */
const OCTETS = 'application/octet-stream'
/** The part that files come in. */
const FILES = 'files'

export interface Upload {
  readonly fields: Readonly<Record<string, string>>
  readonly files: readonly KeptFile[]
}

/** The files are kept when it resolves: whoever refuses them later drops them. Nothing is left behind if it rejects. */
export async function receiveUpload(
  { req, res, reading }: Pick<Call, 'req' | 'res' | 'reading'>,
  form: z.ZodObject,
  market: Market,
): Promise<Upload> {
  if (Number(req.headers['content-length']) > BODY_BYTES) throw refuse('body_too_large', BODY_BYTES)
  if (hasLeft(req)) throw new Gone('The client left')
  invite(req, res)
  const arrivals: Arrival[] = []
  try {
    const { fields, problems } = await parse(req, {
      market,
      arrivals,
      reading,
      names: new Set(Object.keys(form.shape)),
    })
    const ends = await Promise.all(arrivals.map(({ end }) => end))
    const files = ends.filter(end => typeof end !== 'string')
    const faults = [...problems, ...ends.filter(end => typeof end === 'string')]
    if (faults.length > 0) throw invalid({ [FILES]: faults })
    await keepFiles(
      market,
      files.map(({ id }, i) => ({ id, path: arrivals[i]!.path })),
    )
    return { fields, files }
  } catch (error) {
    await Promise.allSettled(arrivals.map(({ end }) => end))
    throw error
  } finally {
    for (const { path } of arrivals) await removeArrived(market, path)
  }
}

async function removeArrived({ log }: Market, path: string): Promise<void> {
  try {
    await rm(path, { force: true })
  } catch (error) {
    const { message } = error as Error
    log({ type: 'warning', message: `A file that had arrived could not be removed; the next start does: ${message}` })
  }
}

interface Parsed {
  fields: Record<string, string>
  problems: string[]
}

interface Parsing {
  market: Market
  /** Added to, file by file. */
  arrivals: Arrival[]
  reading: Reading
  /** Of the fields that are kept; all others are dropped as they arrive. */
  names: ReadonlySet<string>
}

function parse(req: IncomingMessage, { market, arrivals, reading, names }: Parsing): Promise<Parsed> {
  let isInField = false
  const parser = parserOf(req, (name, type, fileName) => {
    isInField = fileName === undefined && type !== OCTETS && (names.has(name ?? '') || name === FILES)
    return !isInField
  })
  const fields: Record<string, string> = Object.create(null)
  const problems = new Set<string>()
  /** Why the bytes of a part are not kept; empty where nobody need be told, as of a field that no shape names. */
  const problemOf = (part: string | undefined, isFile: boolean): string | null => {
    if (!isFile) return ''
    if (part !== FILES) return `a file came in the part ${nameOf(part)}: send each in a part named files`
    return arrivals.length === MAX_FILES ? `at most ${MAX_FILES} files` : null
  }
  return new Promise((resolve, reject) => {
    let broken = false
    let size = 0
    // Bytes of fields, which lie in memory: of those that have ended, and of the one that is under way.
    let [kept, coming] = [0, 0]
    const fail = (error: Error) => {
      if (broken) return
      broken = true
      unwatch()
      arriving.end()
      req.unpipe(parser)
      parser.destroy()
      for (const { stream } of arrivals) stream.destroy(error)
      reject(error)
    }
    // Also after the last byte has come: what is left of a body goes with its connection, and nobody would end the rest.
    const gone = () => {
      if (!req.readableEnded) fail(new Gone('The client left'))
    }
    parser
      .on('field', (name, value, _, isCut) => {
        isInField = false
        coming = 0
        if (name === FILES) return void problems.add('a part named files needs a file name')
        kept += Buffer.byteLength(value) - Buffer.byteLength(fields[name] ?? '')
        // A value that was cut is over every limit of a field; its shape then says so.
        fields[name] = isCut ? `${value}…` : value
      })
      .on('file', (part, stream, name, _encoding, type) => {
        const problem = problemOf(part, name !== undefined || type === OCTETS)
        if (problem !== null || broken) {
          if (problem) problems.add(problem)
          return void stream.on('error', () => {}).resume()
        }
        const arrival = receiveFile(stream, name ?? '', market)
        arrivals.push(arrival)
        arrival.end.catch(fail) // a disk that is full, or no descriptor left: nothing more need come
      })
      .on('partsLimit', () => fail(refuse('bad_request', `The multipart body has more than ${MAX_PARTS} parts`)))
      .on('error', error => fail(refuse('bad_request', `The multipart body is broken: ${(error as Error).message}`)))
      .once('finish', () => {
        arriving.end()
        resolve({ fields, problems: [...problems] })
      })
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > BODY_BYTES) return fail(refuse('body_too_large', BODY_BYTES))
      if (!isInField) return
      coming = Math.min(coming + chunk.length, FIELD_BYTES)
      const refusal = arriving.refusal(kept + coming)
      if (refusal) fail(refusal)
    })
    const arriving = reading.begin(fail)
    const unwatch = watchPace(req, reading.lookMs, fail)
    req.once('error', gone).once('close', gone).pipe(parser)
  })
}

const nameOf = (part: string | undefined) => (part ? part.slice(0, 50).toWellFormed() : 'without a name')

type IsFile = NonNullable<BusboyConfig['isPartAFile']>

/** Whatever is a file to it is a stream, and lies in no memory until its end. */
function parserOf({ headers }: IncomingMessage, isPartAFile: IsFile) {
  try {
    const parser = new Busboy({
      headers: headers as BusboyHeaders,
      isPartAFile,
      limits: {
        fieldNameSize: 100,
        fieldSize: FIELD_BYTES,
        fields: MAX_FIELDS,
        files: MAX_PARTS,
        fileSize: FILE_BYTES,
        parts: MAX_PARTS,
        headerPairs: 20,
        headerSize: HEADER_BYTES,
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
