/**
 * Sends streams of server-sent events, which go on until the client leaves or the server closes. Source: A-238.
 *
 * A stream keeps only the number of the last item that it has sent, and takes the next one from its feed when the client
 * has room for it. So a slow client costs no memory: it falls behind, until `connections.ts` ends it. What there is to send is
 * made and sent in turns of the account that follows, never by the request that it tells of. Source: A-289.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from '../api/failures.ts'
import { limits } from '../api/limits.ts'
import type { EventStream } from '../api/reply.ts'
import type { Turns } from './turns.ts'

const TYPE = 'text/event-stream; charset=utf-8'
/** What is known may be old: all is to be read anew. */
const RESYNC = 'event: resync\ndata: {}\n\n'
/** A script in a browser hears of no comment, and a stream that stands still would look to it like one on which nothing happens. */
const ALIVE = 'event: alive\ndata: {}\n\n'
/** How long a client waits before it connects again. */
const RETRY_MS = 1_000
/** An instance does not hear of what others change. */
const beats = { whole: ALIVE, partial: RESYNC }
/** So many of these are sent in one go. */
const BEATS_AT_ONCE = 100

interface StreamOptions {
  heartbeatMs: number
  /** Distinguishes this process in the ids of items, as a later one counts from the start again. */
  process: string
  /** Takes a response out of those that a closing server waits for. */
  release(res: ServerResponse): void
}

/** What a stream needs of its request. */
interface StreamCall {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly flow: string
  readonly server: { readonly turns: Turns }
  stream(status: number, type: string, length: null, headers: Readonly<Record<string, string>>): void
}

interface OpenStream {
  readonly res: ServerResponse
  readonly hints: EventStream['hints']
  readonly flow: string
  beats: number
  send(): void
  end(): void
}

export class EventStreams {
  /** By session or key. */
  readonly #open = new Map<string, Set<OpenStream>>()
  readonly #options: StreamOptions
  #heartbeat: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: StreamOptions) {
    this.#options = options
  }

  send(call: StreamCall, stream: EventStream): void {
    // Who left while the request waited for its turn will not leave once more.
    if (call.res.closed) return
    const own = this.#open.get(stream.owner) ?? new Set()
    const { atOnce, account } = limits.streams
    if (own.size >= atOnce) throw refuse('too_many_streams', atOnce)
    const { req, res, flow } = call
    if (this.#all().filter(open => open.flow === flow).length >= account) throw refuse('too_many_streams', account)
    const { process, release, heartbeatMs } = this.#options
    call.stream(200, TYPE, null, { 'x-accel-buffering': 'no' })
    if (req.method === 'HEAD' || this.#closed) return void res.end()
    release(res)
    const start = startOf(stream, process, req.headers['last-event-id'])
    const open = follow(call, stream, process, start)
    this.#open.set(stream.owner, own.add(open))
    this.#heartbeat ??= setInterval(() => this.#beat(this.#all()), heartbeatMs).unref()
    res.once('close', () => {
      open.end()
      own.delete(open)
      if (own.size === 0) this.#open.delete(stream.owner)
      if (this.#open.size === 0) this.#stopHeartbeat()
    })
  }

  endAll(): void {
    this.#closed = true
    for (const open of this.#all()) {
      open.send()
      open.end()
    }
    this.#stopHeartbeat()
  }

  #all(): OpenStream[] {
    return [...this.#open.values()].flatMap(own => [...own])
  }

  #beat(streams: OpenStream[]): void {
    for (const open of streams.splice(0, BEATS_AT_ONCE)) {
      const { res, hints } = open
      if (res.writableEnded) continue
      if (hints && ++open.beats >= limits.streams.comments) open.end()
      else if (!res.writableNeedDrain) res.write(hints ? beats[hints] : ': alive\n\n')
    }
    if (streams.length > 0) setImmediate(() => this.#beat(streams))
  }

  #stopHeartbeat(): void {
    clearInterval(this.#heartbeat)
    this.#heartbeat = undefined
  }
}

/** Returns the number after which the stream begins. What an earlier process has sent is all over. null: the client has missed some hints. */
function startOf({ after, hints }: EventStream, process: string, lastId: string | string[] | undefined): number | null {
  const [, by, number] = /^(\w+)-(\d{1,15})$/.exec(String(lastId ?? '')) ?? []
  if (number === undefined) return after
  if (by === process) return Number(number)
  return hints ? null : 0
}

function follow(
  { res, flow, server: { turns } }: StreamCall,
  { feed, follows, hints }: EventStream,
  process: string,
  start: number | null,
): OpenStream {
  let at = start ?? feed.last
  let waits = false
  /** Sends until the client has no room or nothing is left. */
  const send = () => {
    const began = performance.now()
    while (!res.writableNeedDrain && !res.writableEnded) {
      const missed = feed.oldest - 1 - at
      if (missed > 0) {
        res.write(hints ? RESYNC : `event: gap\ndata: ${JSON.stringify({ missed })}\n\n`)
        at += missed
      }
      const item = feed.next(at)
      if (!item) {
        at = Math.max(at, feed.last)
        if (!follows) end()
        break
      }
      at = item.number
      res.write(`id: ${process}-${at}\ndata: ${item.text}\n\n`)
    }
    turns.charge(flow, performance.now() - began)
  }
  const wake = () => {
    if (waits || res.writableEnded) return
    waits = true
    turns.yieldTo(flow, res).then(() => {
      waits = false
      send()
    }, end)
  }
  const unwatch = feed.watch(wake)
  const end = () => {
    unwatch()
    res.end()
  }
  res.on('drain', wake)
  res.write(`retry: ${RETRY_MS}\n\n`)
  if (start === null) res.write(RESYNC)
  wake()
  return { res, hints, flow, beats: 0, send, end }
}
