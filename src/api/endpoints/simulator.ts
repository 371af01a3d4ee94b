/** Endpoints that exist only in the local simulator. Source: A-44. */
import * as z from 'zod'
import { endpoint } from '../endpoint.ts'
import { clockMoves, durations } from '../limits.ts'
import { time } from '../shapes.ts'

/** `scale`: how many times as fast as real time it runs. */
const clock = z.object({ now: time(), offsetMs: z.int(), scale: z.number() })
const due = z.object({
  at: time(),
  kind: z.enum(['webhook', 'clearing', 'heartbeat', 'mail', 'retention', 'buyer']),
  /** Of the delivery, of the task whose payment clears or that a simulated buyer has, of the mail; or the name of the work. */
  id: z.string(),
  /** The event of a webhook; what a mail is about; the simulated buyer; null elsewhere. */
  about: z.string().nullable(),
})
const underWay = z.object({ kind: z.enum(['webhook', 'callback', 'heartbeat', 'mail', 'buyer']), id: z.string() })
const admin = { auth: 'key-or-session', role: 'admin', rate: 'general', only: 'dev' } as const

export const simulator = {
  getClock: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/dev/clock',
    summary: 'Domain time, and what falls due next',
    // `alike`: how many more things fall due at the same moment.
    reply: clock.extend({ next: due.extend({ alike: z.int() }).nullable() }),
    unit: 'read',
    source: 'A-44',
  }),
  moveClock: endpoint({
    ...admin,
    method: 'POST',
    path: '/api/dev/clock',
    summary: 'Move domain time forward, and do what falls due on the way, in order',
    example: { advanceMs: 3_600_000 },
    body: z
      .object({
        advanceMs: z
          .int({ error: 'must be a whole number of milliseconds' })
          .min(0, { error: 'must not be negative: the clock only goes forward' })
          .max(durations.clockStepMs, { error: 'must be at most 315360000000, ten years; move it more than once' })
          .optional(),
        to: z.iso.datetime({ error: 'must be a time like 2030-01-31T12:00:00Z' }).optional(),
        steps: z
          .int({ error: 'must be a whole number of moments' })
          .min(1, { error: 'must be at least 1' })
          .max(clockMoves.steps, { error: `must be at most ${clockMoves.steps}` })
          .optional(),
        jump: z.boolean({ error: 'must be true or false' }).optional(),
      })
      .refine(body => (body.advanceMs === undefined) !== (body.to === undefined), {
        error: 'send either advanceMs or to',
        path: ['advanceMs'],
      }),
    reply: clock.extend({
      done: z.array(due),
      omitted: z.int(),
      stopped: z.object({ reason: z.enum(['steps', 'time', 'under_way']), underWay: z.array(underWay) }).nullable(),
    }),
    unit: 'own',
    refusals: ['clock_backwards', 'clock_too_far'],
    source: 'A-44',
  }),
  scaleClock: endpoint({
    ...admin,
    method: 'PUT',
    path: '/api/dev/clock/scale',
    summary: 'Let domain time run faster than real time; 1 is as fast',
    example: { scale: 60 },
    body: z.object({
      scale: z
        .int({ error: 'must be a whole number' })
        .min(1, { error: 'must be at least 1: the clock only goes forward' })
        .max(clockMoves.scale, { error: `must be at most ${clockMoves.scale}` }),
    }),
    reply: clock,
    unit: 'own',
    source: 'A-233',
  }),
}
