/** Endpoints that exist only in the local simulator. Source: A-44. */

import { clock, devPeople, devStatus, due, fault, namedDue, simulatedBuyer } from '../dev-records.ts'
import { endpoint } from '../endpoint.ts'
import { faultNames, targetsOf } from '../faults.ts'
import { clockMoves, durations, limits } from '../limits.ts'
import { user } from '../records.ts'
import { id, integerText, moment, oneOf } from '../shapes.ts'
import * as z from '../zod.ts'
import { callbackInput } from './tasks.ts'

const underWay = () => z.object({ kind: z.enum(['webhook', 'callback', 'heartbeat', 'mail', 'buyer']), id: z.string() })
const admin = { auth: 'key-or-session', role: 'admin', rate: 'general', only: 'dev' } as const

export const simulator = {
  signInAs: endpoint({
    method: 'POST',
    path: '/api/dev/sign-in',
    auth: 'public',
    only: 'dev',
    near: true,
    rate: 'authentication',
    summary: 'Be the buyer, the builder or the administrator of this simulator',
    description:
      'Only from this machine, by a program or by a page of the simulator itself: neither through a proxy nor from another site.',
    body: () => z.object({ as: oneOf(devPeople) }),
    reply: () => z.object({ user: user() }),
    unit: 'own',
    sets: 'session',
    refusals: ['not_found', 'banned', 'not_near'],
    source: 'A-310',
  }),
  getDevStatus: endpoint({
    auth: 'key-or-session',
    rate: 'general',
    only: 'dev',
    method: 'GET',
    path: '/api/dev/status',
    summary:
      'What runs: its database, its clock, its books, the agents that it starts or forwards to, its last warnings',
    reply: devStatus,
    unit: 'own',
    source: 'A-310',
  }),
  answerAsAgent: endpoint({
    auth: 'key-or-session',
    rate: 'general',
    only: 'dev',
    method: 'POST',
    path: '/api/dev/tasks/:id/callback',
    summary: 'Answer for the agent of a task: the simulator signs the callback with its secret and sends it',
    description:
      'For whoever sees the task. The callback goes over the wire like one of the agent itself: faults meet it, it is recorded, and its own response is told. status: null if none came.',
    body: callbackInput,
    example: { action: 'reject', reason: 'I write no poems.' },
    reply: () => z.object({ status: z.int().nullable(), error: z.string().nullable() }),
    unit: 'own',
    refusals: ['not_found', 'not_yours'],
    source: 'A-314',
  }),
  listBuyers: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/dev/buyers',
    summary: 'Characters of simulated buyers, and which of them are there',
    reply: () => z.object({ items: z.array(simulatedBuyer()) }),
    unit: 'own',
    source: 'A-315',
  }),
  setBuyer: endpoint({
    ...admin,
    method: 'PUT',
    path: '/api/dev/buyers/:id',
    summary: 'Let a simulated buyer come, who hires every agent again and again, or go',
    description:
      'id: the name of its character. Who goes hires nobody any more, and leaves its open task as it is until it comes again.',
    example: { isHere: true },
    body: () => z.object({ isHere: z.boolean({ error: 'must be true or false' }) }),
    reply: simulatedBuyer,
    unit: 'own',
    refusals: ['not_found'],
    source: 'A-315',
  }),
  getClock: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/dev/clock',
    summary: 'Domain time, and what falls due next',
    description:
      'due: what falls due next, in order, with the names of tasks and agents; one thing, or as many as `limit` says.',
    // `alike`: how many more things fall due at the same moment.
    query: () => z.object({ limit: integerText(1, limits.page.max).optional() }),
    reply: () => clock().extend({ next: due().extend({ alike: z.int() }).nullable(), due: z.array(namedDue()) }),
    unit: 'read',
    source: 'A-44',
  }),
  moveClock: endpoint({
    ...admin,
    method: 'POST',
    path: '/api/dev/clock',
    summary: 'Move domain time forward, and do what falls due on the way, in order',
    example: { advanceMs: 3_600_000 },
    body: () =>
      z
        .object({
          advanceMs: z
            .int({ error: 'must be a whole number of milliseconds' })
            .min(0, { error: 'must not be negative: the clock only goes forward' })
            .max(durations.clockStepMs, { error: 'must be at most 315360000000, ten years; move it more than once' })
            .optional(),
          to: moment().optional(),
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
    reply: () =>
      clock().extend({
        done: z.array(due()),
        omitted: z.int(),
        stopped: z.object({ reason: z.enum(['steps', 'time', 'under_way']), underWay: z.array(underWay()) }).nullable(),
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
    body: () =>
      z.object({
        scale: z
          .int({ error: 'must be a whole number' })
          .min(1, { error: 'must be at least 1: the clock only goes forward' })
          .max(clockMoves.scale, { error: `must be at most ${clockMoves.scale}` }),
      }),
    reply: clock,
    unit: 'own',
    source: 'A-233',
  }),
  listFaults: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/dev/faults',
    summary: 'Faults that wait for a webhook or a callback, and the last that were met',
    reply: () => z.object({ items: z.array(fault()) }),
    unit: 'own',
    source: 'A-264',
  }),
  armFault: endpoint({
    ...admin,
    method: 'POST',
    path: '/api/dev/faults',
    summary: 'Let one thing go wrong, once: with the next webhook or callback that it is meant for',
    example: { name: 'answer-lost', on: 'task.submitted' },
    body: () =>
      z
        .object({
          name: z.enum(faultNames, { error: `must be one of ${faultNames.join(', ')}` }),
          on: z.string({ error: 'must be an event or an action' }).max(40).nullable().optional(),
          agentId: id().nullable().optional(),
          /** Only this task may meet it. */
          forTaskId: id().nullable().optional(),
        })
        .refine(({ name, on }) => on == null || targetsOf(name).includes(on), {
          error: 'must be an event, like task.submitted, for a webhook, and an action, like deliver, for a callback',
          path: ['on'],
        }),
    reply: fault,
    status: 201,
    unit: 'own',
    refusals: ['faults_full'],
    source: 'A-264',
  }),
  clearFaults: endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/dev/faults',
    summary: 'Take back all faults that wait',
    reply: () => z.object({ items: z.array(fault()) }),
    unit: 'own',
    source: 'A-264',
  }),
  clearFault: endpoint({
    ...admin,
    method: 'DELETE',
    path: '/api/dev/faults/:id',
    summary: 'Take back one fault that waits',
    reply: fault,
    unit: 'own',
    refusals: ['not_found'],
    source: 'A-264',
  }),
}
