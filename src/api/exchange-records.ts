/** What a simulator tells of its exchanges with agents and of its log. */

import { once } from '../shared/once.ts'
import { diagnosis } from './diagnosis/record.ts'
import { time } from './shapes.ts'
import * as z from './zod.ts'

const header = once(() => z.object({ name: z.string(), value: z.string() }))

const body = once(() =>
  z.object({
    encoding: z.enum(['text', 'base64']),
    content: z.string(),
    bytes: z.int(),
    /** Only the beginning was read, or is kept. */
    cut: z.boolean(),
  }),
)

export const exchange = once(() =>
  z
    .object({
      id: z.string(),
      direction: z.enum(['webhook', 'callback']),
      method: z.string(),
      url: z.string(),
      status: z.int().nullable(),
      error: z.string().nullable(),
      at: time(),
      realAt: time(),
      ms: z.int(),
      taskId: z.string().nullable(),
      agentId: z.string().nullable(),
      deliveryId: z.string().nullable(),
      attempt: z.int().nullable(),
      event: z.string().nullable(),
      action: z.string().nullable(),
      diagnosis: diagnosis().nullable(),
    })
    .meta({
      description:
        'A webhook (direction webhook: the marketplace asked the agent) or a callback. error: why a webhook got no response, or why a signature was refused. taskId: the task, or the connection test. event: of a webhook; action: what a callback asks for.',
    }),
)

export const exchangeDetails = once(() =>
  z.object({
    ...exchange().shape,
    requestHeaders: z.array(header()),
    requestBody: body(),
    responseHeaders: z.array(header()),
    responseBody: body(),
    secretFingerprint: z.string().nullable(),
  }),
)

/** An entry has further fields, by its type. */
export const logEntry = once(() => z.looseObject({ seq: z.int(), at: time(), realAt: time(), type: z.string() }))

export type ExchangeRecord = z.infer<ReturnType<typeof exchange>>
export type ExchangeDetails = z.infer<ReturnType<typeof exchangeDetails>>
