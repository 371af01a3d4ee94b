/**
 * Receives a multipart body: fields into memory, files onto the disk, where they are validated. Source: I-agent-routes,
 *
 */
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { Busboy, type BusboyConfig, type BusboyHeaders } from '@fastify/busboy'
import type * as z from 'zod'
import { invalid, type Refusal, refuse } from '../api/failures.ts'
import type { KeptFile } from '../api/file-kinds.ts'
import { limits } from '../api/limits.ts'
import type { Market } from '../market/market.ts'
import { keepFiles } from '../market/tasks/files.ts'
import type { ArrivingFile } from './bodies/arriving-files.ts'
import { Gone, hasLeft, invite, type Reading } from './bodies/body.ts'
import { watchPace } from './bodies/body-pace.ts'
import { type Arrival, receiveFile } from './bodies/file-arrival.ts'
import type { Call } from './response.ts'

const { files: MAX_FILES, fileBytes: FILE_BYTES } = limits.deliverable
const FIELD_BYTES = 4 * limits.deliverable.content[1]
const MAX_FIELDS = 20
/** Empty parts count too: ten bodies of 25 MB of empty parts once blocked the server for half a minute. */
const MAX_PARTS = MAX_FILES + MAX_FIELDS + 5
/** The headers of one part. A file name of 255 characters takes at most 4 KB in each of its two forms. */
const HEADER_BYTES = 16 * 1024
/** All files and fields at their largest, with room for the boundaries. */
const BODY_BYTES = MAX_FILES * FILE_BYTES + limits.jsonBytes
/**
 * How much of a part is buffered before the parser pauses. Busboy 3.2.6 never finishes a part that it skips (one without a
 * name, or one beyond a limit) if the part ends while the parser is paused. A skipped part is emptied before the next chunk
 * arrives. A chunk has 64 KiB at most, and at the start there can be two of them, so a skipped part never pauses.
 */
const ROOM_BYTES = 192 * 1024
/** A part of this type is a file, whether it has a name or not. */
const OCTETS = 'application/octet-stream'
/**
 * The parser gets so much at once. It goes on to the end of what it got after it was stopped: 64 KiB of empty parts held the thread for 6 to 9 ms,
 * 16 KiB hold it for 1.2 ms. A file of 5 MB takes 0.5 to 1 ms longer.
 */
const PIECE_BYTES = 16 * 1024
/** The name of the parts with files. */
const FILES = 'files'

/** Begins to count the files of an upload. */
export type BeginFiles = (giveUp: (refusal: Refusal) => void) => ArrivingFile

export interface Upload {
  readonly fields: Readonly<Record<string, string>>
  readonly files: readonly KeptFile[]
}

/**
 * Receives and stores an upload. If the request is refused later, the caller drops the files. If this rejects, no file is
 * left.
 */
export async function receiveUpload(
  { req, res, reading }: Pick<Call, 'req' | 'res' | 'reading'>,
  form: z.ZodObject,
  market: Market,
  beginFiles: BeginFiles,
): Promise<Upload> {
  if (Number(req.headers['content-length']) > BODY_BYTES) throw refuse('body_too_large', BODY_BYTES)
  if (hasLeft(req)) throw new Gone('The client left')
  invite(req, res)
  const arrivals: Arrival[] = []
  let onDisk: ArrivingFile | undefined
  try {
    const { fields, problems } = await parse(req, {
      market,
      arrivals,
      beginFiles: giveUp => (onDisk = beginFiles(giveUp)),
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
    onDisk?.end()
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
  /** Gets an entry for each file. */
  arrivals: Arrival[]
  beginFiles: BeginFiles
  reading: Reading
  /** The names of the fields to keep. All others are dropped as they arrive. */
  names: ReadonlySet<string>
}

function parse(req: IncomingMessage, { market, arrivals, beginFiles, reading, names }: Parsing): Promise<Parsed> {
  let isInField = false
  const parser = parserOf(req, (name, type, fileName) => {
    isInField = fileName === undefined && type !== OCTETS && (names.has(name ?? '') || name === FILES)
    return !isInField
  })
  const fields = new Fields()
  return new Promise((resolve, reject) => {
    let broken = false
    /** Bytes that have come, and those of the field that is arriving. */
    let [size, coming] = [0, 0]
    const fail = (error: Error) => {
      if (broken) return
      broken = true
      unwatch()
      arriving.end()
      req.unpipe(pieces)
      pieces.destroy()
      parser.destroy()
      for (const { stream } of arrivals) stream.destroy(error)
      reject(error)
    }
    const failIf = (refusal: Refusal | null) => refusal && fail(refusal)
    // Also needed after the last byte has come, because the unparsed rest of the body is lost with the connection.
    const gone = () => !req.readableEnded && fail(new Gone('The client left'))
    parser
      .on('field', (name, value, _, isCut) => {
        isInField = false
        coming = 0
        if (name === FILES) fields.problems.add('a part named files needs a file name')
        else fields.add(name, value, isCut)
      })
      .on('file', (part, stream, name, _encoding, type) => {
        const problem = problemOf(part, name !== undefined || type === OCTETS, arrivals.length)
        if (problem !== null || broken) {
          if (problem) fields.problems.add(problem)
          return void stream.on('error', () => {}).resume()
        }
        const arrival = receiveFile(stream, name ?? '', market, bytes => failIf(broken ? null : onDisk.add(bytes)))
        arrivals.push(arrival)
        arrival.end.catch(fail) // the disk is full, or no descriptor is free: the rest need not come
      })
      .on('partsLimit', () => fail(refuse('bad_request', `The multipart body has more than ${MAX_PARTS} parts`)))
      .on('error', error => fail(refuse('bad_request', `The multipart body is broken: ${(error as Error).message}`)))
      .once('finish', () => {
        arriving.end()
        resolve({ fields: fields.values, problems: [...fields.problems] })
      })
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > BODY_BYTES) return fail(refuse('body_too_large', BODY_BYTES))
      if (!isInField) return
      coming = Math.min(coming + chunk.length, FIELD_BYTES)
      failIf(arriving.refusal(fields.bytes + coming))
    })
    const onDisk = beginFiles(fail)
    const arriving = reading.begin(fail)
    const unwatch = watchPace(req, reading.lookMs, fail)
    const pieces = inPieces()
    req.once('error', gone).once('close', gone).pipe(pieces).pipe(parser)
  })
}

function inPieces(): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) this.push(chunk.subarray(at, at + PIECE_BYTES))
      done()
    },
  })
}

/** The fields that have arrived whole. The last of a name counts. */
class Fields {
  readonly values: Record<string, string> = Object.create(null)
  /** What the values take in memory. */
  bytes = 0
  /** Why parts were dropped. */
  readonly problems = new Set<string>()

  add(name: string, value: string, isCut: boolean): void {
    this.bytes += Buffer.byteLength(value) - Buffer.byteLength(this.values[name] ?? '')
    // A value that was cut exceeds every limit, so its schema refuses it.
    this.values[name] = isCut ? `${value}…` : value
  }
}

/** Returns why a part is dropped; null if it is kept, '' if no error is reported, as for an unknown field. */
function problemOf(part: string | undefined, isFile: boolean, files: number): string | null {
  if (!isFile) return ''
  if (part !== FILES) return `a file came in the part ${nameOf(part)}: send each in a part named files`
  return files === MAX_FILES ? `at most ${MAX_FILES} files` : null
}

const nameOf = (part: string | undefined) => (part ? part.slice(0, 50).toWellFormed() : 'without a name')

type IsFile = NonNullable<BusboyConfig['isPartAFile']>

/** Makes the parser. A part that counts as a file is streamed and not collected in memory. */
function parserOf({ headers }: IncomingMessage, isPartAFile: IsFile) {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      isPartAFile,
      fileHwm: ROOM_BYTES,
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
  } catch (error) {
    throw refuse('bad_request', `The multipart body can't be read: ${(error as Error).message}`)
  }
}
