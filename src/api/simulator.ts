/** What exists in the local simulator alone. Source: D44. */
import * as z from 'zod'
import { endpoint } from './endpoint.ts'
import { time } from './shapes.ts'

const clock = z.object({ now: time(), offsetMs: z.int() })
const admin = { auth: 'key-or-session', role: 'admin', rate: 'general', only: 'dev' } as const

export const simulator = {
  getClock: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/dev/clock',
    summary: 'Domain time',
    reply: clock,
    unit: 'read',
    source: 'D44',
  }),
  moveClock: endpoint({
    ...admin,
    method: 'POST',
    path: '/api/dev/clock',
    summary: 'Move domain time forward',
    example: { advanceMs: 3_600_000 },
    body: z
      .object({
        advanceMs: z
          .int()
          .min(0)
          .max(10 * 365 * 86_400_000)
          .optional(),
        to: z.iso.datetime().optional(),
      })
      .refine(body => (body.advanceMs === undefined) !== (body.to === undefined), {
        error: 'send either advanceMs or to',
        path: ['advanceMs'],
      }),
    reply: clock,
    unit: 'own',
    refusals: ['clock_backwards'],
    source: 'D44',
  }),
}
