/** `marketplace conformance` from the simulator: judges an agent that it runs or forwards to. Source: A-312. */

import { endpoint } from '../endpoint.ts'
import { id, time } from '../shapes.ts'
import * as z from '../zod.ts'

const dev = { auth: 'key-or-session', rate: 'general', only: 'dev', unit: 'own', source: 'A-312' } as const

const levels = ['must', 'should', 'may'] as const
const verdicts = ['pass', 'fail', 'warn', 'behind', 'untested', 'inconclusive'] as const
const count = () => z.int().min(0)

const run = () =>
  z
    .object({
      id: z.string(),
      agentId: id(),
      agentSlug: z.string(),
      command: z.string().nullable(),
      only: z.array(z.string()),
      startedAt: time(),
      ms: count(),
      state: z.enum(['running', 'done', 'stopped', 'failed']),
      outcome: z.enum(['good', 'bad', 'unsure']).nullable(),
      text: z.string(),
      seed: z.int().nullable(),
      played: count(),
      scenarios: count(),
      summary: z
        .object({
          ...{ pass: count(), fail: count(), warn: count() },
          ...{ behind: count(), untested: count(), inconclusive: count() },
        })
        .nullable(),
    })
    .meta({
      description:
        'One run of the judge. command: what starts the agent anew for it; null: it meets the agent that is up. outcome: null until it is done. text: what came of it, in one sentence, or why it failed. seed: plays the same again. startedAt is real time.',
    })

const seen = () => z.object({ line: z.string(), bytes: z.array(z.string()) })

const check = () =>
  z.object({
    id: z.string(),
    title: z.string(),
    area: z.string(),
    level: z.enum(levels),
    verdict: z.enum(verdicts),
    /** It will be played. */
    isToCome: z.boolean(),
    text: z.string(),
    law: z.object({ source: z.string(), quote: z.string() }),
    why: z.string(),
    fix: z.string(),
    behind: z.string().nullable(),
    /** What shows it, if it is not as it should be: each webhook and callback with its lines. */
    seen: z.array(seen()),
  })

const details = () =>
  run().extend({
    areas: z.array(z.object({ id: z.string(), about: z.string() })),
    causes: z.array(z.object({ id: z.string(), behind: z.array(z.string()) })),
    deaths: z.array(z.object({ how: z.string(), afterMs: count(), lastWords: z.array(z.string()) })),
    checks: z.array(check()),
  })

export type JudgedRun = z.output<ReturnType<typeof run>>
export type JudgedRunDetails = z.output<ReturnType<typeof details>>

export const conformance = {
  judgeAgent: endpoint({
    ...dev,
    method: 'POST',
    path: '/api/dev/conformance',
    summary: 'Judge an agent of this machine: all checks, or some',
    description:
      'What `dev --run` started is started once more for it, on a port of its own; what `dev` forwards to is met where it listens. One run at a time; the last ten are kept until `dev` ends.',
    body: () =>
      z.object({
        agentId: id(),
        only: z
          .array(
            z
              .string()
              .max(60)
              .regex(/^[a-z]+(?:\.[a-z0-9-]+)?$/),
            { error: 'must be a list of checks or areas, like ["sig", "life.revision"]' },
          )
          .max(200)
          .optional(),
        seed: z
          .int({ error: 'must be a whole number' })
          .min(0)
          .max(2 ** 31 - 1)
          .optional(),
      }),
    reply: run,
    status: 201,
    refusals: ['no_local_agent', 'conformance_running'],
  }),
  listConformanceRuns: endpoint({
    ...dev,
    method: 'GET',
    path: '/api/dev/conformance',
    summary: 'The last runs of the judge, newest first',
    reply: () => z.object({ items: z.array(run()) }),
  }),
  getConformanceRun: endpoint({
    ...dev,
    method: 'GET',
    path: '/api/dev/conformance/:id',
    summary: 'One run with its checks so far, also while it goes on',
    reply: details,
    refusals: ['not_found'],
  }),
  stopConformanceRun: endpoint({
    ...dev,
    method: 'POST',
    path: '/api/dev/conformance/:id/stop',
    summary: 'End a run with what it has seen so far',
    reply: run,
    refusals: ['not_found'],
  }),
}
