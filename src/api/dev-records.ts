/** What a simulator tells of itself. */

import { once } from '../shared/once.ts'
import { diagnosis } from './diagnosis/record.ts'
import { faultNames } from './faults.ts'
import { time } from './shapes.ts'
import * as z from './zod.ts'

/** `scale`: how many times as fast as real time it runs. */
export const clock = once(() => z.object({ now: time(), offsetMs: z.int(), scale: z.number() }))

export const due = once(() =>
  z.object({
    at: time(),
    kind: z.enum(['webhook', 'clearing', 'heartbeat', 'mail', 'retention', 'buyer']),
    /** Of the delivery, of the task whose payment clears or that a simulated buyer has, of the mail; or the name of the work. */
    id: z.string(),
    /** The event of a webhook; what a mail is about; the simulated buyer; null elsewhere. */
    about: z.string().nullable(),
  }),
)

/** `GET /api/dev/clock?limit=20`: `due` has the next of them in order, with names. */
export const namedDue = once(() =>
  due().extend({
    /** Of the task and of the agent, where it has to do with one. */
    taskId: z.string().nullable(),
    title: z.string().nullable(),
    agent: z.string().nullable(),
  }),
)

/** `GET /api/dev/status`, for everybody who is signed in. */
export const devStatus = once(() =>
  z.object({
    version: z.string(),
    database: z.object({ engine: z.enum(['embedded', 'postgres']), name: z.string() }),
    seed: z.string().nullable(),
    /** Real time. */
    startedAt: time(),
    clock: clock().extend({ next: namedDue().nullable() }),
    /** Looked at once in some seconds, however many ask. */
    ledger: z.object({ ok: z.boolean(), problems: z.int(), checkedAt: time() }),
    /** Agents that this simulator starts or forwards to. */
    agents: z.array(
      z.object({
        agentId: z.string(),
        slug: z.string(),
        forwardTo: z.string(),
        isUp: z.boolean(),
        /** Of the process that the simulator starts itself. */
        command: z.string().nullable(),
        pid: z.int().nullable(),
        startedAt: time().nullable(),
      }),
    ),
    /** Of the log, the newest first. */
    warnings: z.array(
      z.object({
        at: time(),
        message: z.string(),
        agentId: z.string().nullable(),
        taskId: z.string().nullable(),
        diagnosis: diagnosis().nullable(),
      }),
    ),
  }),
)

/** `POST /api/dev/sign-in { as }` answers with the account, and sets the cookie of its session. */
export const devPeople = ['buyer', 'builder', 'admin'] as const
export type DevPerson = (typeof devPeople)[number]

export const fault = once(() =>
  z
    .object({
      id: z.string(),
      name: z.enum(faultNames),
      on: z.string().nullable(),
      agentId: z.string().nullable(),
      forTaskId: z.string().nullable(),
      armedAt: time(),
      taskId: z.string().nullable(),
      metAt: time().nullable(),
    })
    .meta({
      description:
        'Something that goes wrong on purpose, once. on: the event of a webhook or the action of a callback; agentId, forTaskId: whose; null: any. taskId and metAt: the task that has met it, and when; null: it waits.',
    }),
)

/** `GET /api/dev/buyers`: characters of simulated buyers, each of which hires every agent again and again while it is there. */
export const simulatedBuyer = once(() => z.object({ name: z.string(), does: z.string(), isHere: z.boolean() }))

/** `GET /api/dev/mails`, the newest first: mails that a server would have sent. */
export const shownMail = once(() =>
  z.object({
    id: z.string(),
    at: time(),
    kind: z.string(),
    to: z.string(),
    subject: z.string(),
    text: z.string(),
  }),
)

/** `GET /api/dev/exchanges/{id}/diagnosis`. */
export const exchangeDiagnosed = once(() =>
  z.object({
    diagnosis: diagnosis().nullable(),
    /**
     * Of a signature that is wrong in a way that was found: what was signed beside what is to be signed, in parts. Parts that are alike in
     * both need no mark. No digest and no secret is in them.
     */
    forms: z
      .object({
        sent: z.array(z.object({ text: z.string(), mark: z.enum(['same', 'extra', 'missing', 'different']) })),
        right: z.array(z.object({ text: z.string(), mark: z.enum(['same', 'extra', 'missing', 'different']) })),
      })
      .nullable(),
  }),
)

/**
 * `GET /api/stream`, for everybody who is signed in: an event for each change of what is one's own. What has changed is read anew; the
 * event `resync` says that some were missed, so that all is read anew.
 */
export const change = once(() =>
  z.object({
    type: z.enum(['task', 'webhook', 'callback', 'message', 'agent', 'wallet', 'notification']),
    at: time(),
    taskId: z.string().nullable(),
    agentId: z.string().nullable(),
    deliveryId: z.string().nullable(),
    /** The trigger of a task, the outcome of a webhook, the type of a notification. */
    what: z.string().nullable(),
  }),
)

export type Change = z.infer<ReturnType<typeof change>>
