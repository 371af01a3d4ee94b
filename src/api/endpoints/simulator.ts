/** Endpoints that exist only in the local simulator. Source: A-44. */
import * as z from 'zod'
import { endpoint } from '../endpoint.ts'
import { durations } from '../limits.ts'
import { time } from '../shapes.ts'

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
    source: 'A-44',
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
          .int({ error: 'must be a whole number of milliseconds' })
          .min(0, { error: 'must not be negative: the clock only goes forward' })
          .max(durations.clockStepMs, { error: 'must be at most 315360000000, ten years; move it more than once' })
          .optional(),
        to: z.iso.datetime({ error: 'must be a time like 2030-01-31T12:00:00Z' }).optional(),
      })
      .refine(body => (body.advanceMs === undefined) !== (body.to === undefined), {
        error: 'send either advanceMs or to',
        path: ['advanceMs'],
      }),
    reply: clock,
    unit: 'own',
    refusals: ['clock_backwards', 'clock_too_far'],
    source: 'A-44',
  }),
}
