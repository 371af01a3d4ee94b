/**
 * stdin and stdout for a client that speaks JSON-RPC, a message a line: every request is answered, also one that can't be read, and it
 * is known which ones wait for their answer. The transport of the SDK is silent about the former and does not know the latter.
 */
import type { Readable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import { print } from '../output/ui.ts'

/** Of one line. */
const MOST_BYTES = 10 * 1024 * 1024
const NEW_LINE = 10

const withId = z.object({ id: z.union([z.string(), z.int()]) })

export class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  /** Resolves when the client has said all. */
  readonly ended: Promise<void>
  readonly #input: Readable
  readonly #waiting = new Set<RequestId>()
  #end = () => {}
  #noneWaits = () => {}
  #left: Buffer = Buffer.alloc(0)

  constructor(input: Readable = process.stdin) {
    this.#input = input
    this.ended = new Promise(resolve => {
      this.#end = resolve
    })
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#take).once('end', this.#takeLast)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    write(message)
    if ('id' in message && !('method' in message)) this.#isDone(message.id!)
  }

  /** Resolves when no request waits for an answer. */
  allAnswered(): Promise<void> {
    return new Promise(resolve => {
      this.#noneWaits = resolve
      if (this.#waiting.size === 0) resolve()
    })
  }

  async close(): Promise<void> {
    this.#input.off('data', this.#take).off('end', this.#takeLast).pause()
    this.onclose?.()
  }

  readonly #take = (chunk: Buffer): void => {
    this.#left = Buffer.concat([this.#left, chunk])
    for (let end = this.#left.indexOf(NEW_LINE); end !== -1; end = this.#left.indexOf(NEW_LINE)) {
      const line = this.#left.toString('utf8', 0, end)
      this.#left = this.#left.subarray(end + 1)
      this.#hear(line)
    }
    if (this.#left.length <= MOST_BYTES) return
    this.#left = Buffer.alloc(0)
    refuse(null, ErrorCode.InvalidRequest, `A line takes ${MOST_BYTES} bytes at most.`)
  }

  /** The last line may have no end. */
  readonly #takeLast = (): void => {
    if (this.#left.length > 0) this.#hear(this.#left.toString())
    this.#end()
  }

  #hear(line: string): void {
    const value = jsonIn(line)
    const { data } = JSONRPCMessageSchema.safeParse(value)
    if (data === undefined) refuseValue(value)
    else this.#pass(data)
  }

  #pass(message: JSONRPCMessage): void {
    this.#count(message)
    this.onmessage?.(message)
  }

  #count(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) this.#waiting.add(message.id)
    // It gets no answer any more.
    else if (message.method === 'notifications/cancelled') this.#isDone(message.params?.requestId as RequestId)
  }

  #isDone(id: RequestId): void {
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#noneWaits()
  }
}

/** Undefined is no value of JSON. */
function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function refuseValue(value: unknown): void {
  if (value === undefined)
    refuse(null, ErrorCode.ParseError, 'This line is not JSON: each line is one message of JSON-RPC 2.0.')
  else
    refuse(
      withId.safeParse(value).data?.id ?? null,
      ErrorCode.InvalidRequest,
      'This line is no message of JSON-RPC 2.0.',
    )
}

/** What tools say has come from commands, which mask it. A reader that has gone is no fault of ours. */
const write = (message: unknown) => print(`${JSON.stringify(message)}\n`, { json: true, whole: true })

/** The types of the SDK know no error without an id; JSON-RPC asks for null. */
const refuse = (id: RequestId | null, code: number, message: string): void =>
  write({ jsonrpc: '2.0', id, error: { code, message } })
