/** Holds every line of the log against the shape of its type, as the contract holds every answer. */

import * as z from 'zod'
import { diagnosis as diagnosisRecord } from '../../src/api/diagnosis/record.ts'
import { faultNames } from '../../src/api/faults.ts'
import type { LogEntry, StampedEntry } from '../../src/market/log.ts'
import { sentence } from './sentence.ts'

const diagnosisShape = diagnosisRecord().shape
const text = () => z.string().min(1)
const textOrNull = () => text().nullable()
const mail = z.strictObject({ to: text(), subject: sentence(), text: text() })
const diagnosis = z.strictObject({ ...diagnosisShape, text: sentence(), fix: sentence() })
const outcomes = ['signed_in', 'unknown_email', 'wrong_password', 'code_missing', 'wrong_code', 'banned', 'too_early']

const shapes: Readonly<Record<LogEntry['type'], z.ZodRawShape>> = {
  request: {
    method: text(),
    path: text(),
    route: textOrNull(),
    status: z.int(),
    ms: z.number(),
    requestId: text(),
    userId: textOrNull(),
    address: text(),
    refusal: text().optional(),
    error: sentence().optional(),
    hint: sentence().optional(),
    diagnosis: diagnosis.optional(),
    own: z.literal(true).optional(),
  },
  sending: { event: text(), taskId: text(), agentId: text(), deliveryId: text(), attempt: z.int().min(1) },
  webhook: {
    event: text(),
    taskId: text(),
    agentId: text(),
    deliveryId: text(),
    attempt: z.int().min(1),
    outcome: z.enum(['delivered', 'retry', 'failed']),
    status: z.int().nullable(),
    reason: textOrNull(),
    ms: z.int(),
    nextAttemptAt: textOrNull(),
    message: sentence().optional(),
    responseBody: z.string().optional(),
    responseBytes: z.int().min(0).optional(),
    diagnosis: diagnosis.optional(),
  },
  sign_in: { outcome: z.enum(outcomes), userId: textOrNull(), address: textOrNull() },
  cut_off: {
    reason: z.enum([
      'slow_reader',
      'connections',
      'connections_of_address',
      'unread_bytes',
      'arriving_bytes',
      'arriving_files',
    ]),
    address: textOrNull(),
  },
  callback: {
    taskId: text(),
    agentId: textOrNull(),
    action: text(),
    via: z.enum(['signature', 'key', 'test']),
    status: z.int(),
    error: sentence().nullable(),
    taskStatus: textOrNull(),
    diagnosis: diagnosis.optional(),
    ms: z.int().min(0),
  },
  money: { kind: text(), amount: z.int().min(1), from: text(), to: text(), taskId: textOrNull() },
  task: { taskId: text(), trigger: text(), from: textOrNull(), to: text() },
  check: {
    agentId: text(),
    check: z.int(),
    name: text(),
    status: text(),
    message: sentence(),
    durationMs: z.int().min(0),
    diagnosis: diagnosis.optional(),
  },
  mail: {
    mailId: text(),
    kind: text(),
    outcome: z.enum(['sent', 'retry', 'failed', 'shown']),
    reason: textOrNull(),
    mail: mail.optional(),
  },
  start: { version: text(), url: text(), engine: text(), db: text(), pid: z.int() },
  stop: { reason: text(), ms: z.number() },
  migration: { from: z.int(), to: z.int(), applied: z.array(text()) },
  administrator: { userId: text(), email: text() },
  output: { agent: text(), stream: z.enum(['stdout', 'stderr']), line: z.string() },
  persona: { persona: text(), step: text(), taskId: textOrNull(), agentId: text(), message: sentence() },
  fault: { fault: z.enum(faultNames), on: text(), taskId: text(), agentId: textOrNull() },
  clock: { now: text(), byMs: z.number() },
  info: { message: sentence() },
  warning: {
    message: sentence(),
    diagnosis: diagnosis.optional(),
    agentId: text().optional(),
    taskId: text().optional(),
  },
  error: { message: text(), stack: text().optional(), requestId: text().optional() },
}

const stamp = { seq: z.int().min(1), at: z.int().min(0), realAt: z.int().min(0) }

const lines = Object.fromEntries(
  Object.entries(shapes).map(([type, shape]) => [type, z.strictObject({ type: z.literal(type), ...stamp, ...shape })]),
)

/** A log that notes what is wrong with its lines; `check` throws it, as a log must not throw itself. */
export function checkedLog(log: (line: StampedEntry) => void = () => {}) {
  const faults: string[] = []
  let last = 0
  return {
    log(line: StampedEntry): void {
      if (line.seq !== ++last) faults.push(`entry ${line.seq} comes after entry ${last - 1}`)
      // What is undefined is not written.
      const written = JSON.parse(JSON.stringify(line))
      const read = lines[line.type]?.safeParse(written)
      if (!read?.success) faults.push(`${JSON.stringify(line)} is no line of a log: ${read?.error.message}`)
      log(line)
    },
    check(): void {
      if (faults.length > 0) throw new Error(faults.splice(0).join('\n'))
    },
  }
}

/** An entry without its number and its times. */
export const unstamped = ({ seq, at, realAt, ...entry }: StampedEntry): LogEntry => entry
