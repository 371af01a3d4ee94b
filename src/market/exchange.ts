/** One HTTP request between the marketplace and an agent, with its response: what a simulator records. */
import { createHash } from 'node:crypto'
import type { Finding } from '../api/diagnosis/record.ts'
import type { FailureName } from '../api/failures.ts'
import type { FaultName } from '../api/faults.ts'
import type { HeaderLines } from '../world/header-lines.ts'

export interface Exchange {
  /** Counts from the start of the simulator. */
  readonly id: string
  /** `webhook`: the marketplace asked the agent; `callback`: the agent asked the marketplace. */
  readonly direction: 'webhook' | 'callback'
  readonly method: string
  readonly url: string
  readonly requestHeaders: HeaderLines
  /** The bytes, without any change. */
  readonly requestBody: Buffer
  /** null: no response came. */
  readonly status: number | null
  readonly responseHeaders: HeaderLines
  readonly responseBody: Buffer
  /** Only the beginning of the body was read, or is kept. */
  readonly requestCut: boolean
  readonly responseCut: boolean
  /** Of a webhook: why there was no response. Of a callback: why its signature was refused. The agent is not told. */
  readonly error: string | null
  /** Of a webhook without a response: the name of that. */
  readonly reason: string | null
  /** When the request began, in ms since 1970: real time, and domain time. */
  readonly realAt: number
  readonly at: number
  readonly ms: number
  /** The task that it is about, or the id of a connection test. */
  readonly taskId: string | null
  readonly agentId: string | null
  /** Of a webhook. */
  readonly deliveryId: string | null
  readonly attempt: number | null
  /** Of a callback. */
  readonly requestId?: string
  /** What it met on purpose. */
  readonly fault: FaultName | null
  /** Of a callback: the name of its refusal, and what is wrong with its signature. */
  readonly refusal: FailureName | null
  readonly signature: Finding | null
  /** About what it takes in memory. */
  readonly bytes: number
  /** Tells which secret signed a webhook without telling the secret. */
  readonly sentSecretFingerprint?: string
}

/** Whether there was no response, or another than 2xx. */
export const hasFailed = ({ status }: Exchange) => status === null || status < 200 || status > 299

/** The beginning of the secret's SHA-256. A secret has 256 random bits, so nobody can guess it from that. */
export const secretFingerprint = (secret: string) => createHash('sha256').update(secret).digest('hex').slice(0, 12)
