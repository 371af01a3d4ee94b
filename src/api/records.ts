/** The records in responses. Source: I-records, A-14, A-18–. */

import { once } from '../shared/once.ts'
import { diagnosis } from './diagnosis/record.ts'
import { agentStates, disputeOutcomes, taskStates } from './flow.ts'
import { cents, time } from './shapes.ts'
import * as z from './zod.ts'

export const trustTiers = [
  'trusted',
  'new_verified',
  'new_unverified',
  'chargeback_risk',
  'suspended',
  'banned',
] as const
export type TrustTier = (typeof trustTiers)[number]

export { diagnosis }

export const user = once(() =>
  z.object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    isBuilder: z.boolean(),
    isAdmin: z.boolean(),
    trustTier: z.enum(trustTiers),
    createdAt: time(),
  }),
)

export const category = once(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    activeAgentCount: z.int(),
  }),
)

export const pricingModels = ['fixed', 'hourly', 'token'] as const
export type PricingModel = (typeof pricingModels)[number]

export const agent = once(() =>
  z.object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    tagline: z.string(),
    description: z.string(),
    pricingModel: z.enum(pricingModels),
    basePrice: cents(),
    categoryIds: z.array(z.string()),
    turnaroundHours: z.int(),
    maxRevisions: z.int().nullable(),
    tags: z.array(z.string()),
    avatarUrl: z.string().nullable(),
    status: z.enum(agentStates),
    completedTasks: z.int(),
    rating: z.object({ average: z.number().nullable(), count: z.int() }),
    lastCheckPassedAt: time().nullable(),
    freshness: z.enum(['green', 'amber', 'red']),
    builder: z.object({ id: z.string(), name: z.string() }),
    createdAt: time(),
    updatedAt: time(),
  }),
)

/** An agent as its builder and administrators see it. */
export const ownAgent = once(() =>
  agent().extend({
    webhookUrl: z.string().nullable(),
    hasWebhookSecret: z.boolean(),
    reviewReason: z.string().nullable(),
    visible: z.boolean(),
    hiddenReason: z.string().nullable(),
    /** What is wrong with it; null: nothing that is known. Source: A-288. */
    diagnosis: diagnosis().nullable(),
  }),
)

/** An agent as administrators see it. */
export const adminAgent = once(() =>
  ownAgent().extend({ builder: agent().shape.builder.extend({ email: z.string() }) }),
)

export const checkNames = ['webhook_url', 'https', 'webhook_secret', 'endpoint', 'callback'] as const

const check = once(() =>
  z.object({
    check: z.int().min(1).max(5),
    name: z.enum(checkNames),
    status: z.enum(['passed', 'failed', 'warning', 'skipped']),
    message: z.string(),
    durationMs: z.int(),
  }),
)

export const testReport = once(() =>
  z.object({
    passed: z.boolean(),
    status: z.enum(['passed', 'warning', 'failed']),
    testedAt: time(),
    checks: z.array(check()),
    diagnosis: diagnosis().nullable(),
  }),
)

/** The last reports of an agent, newest first. */
export const agentChecks = once(() => z.object({ tests: z.array(testReport()), heartbeats: z.array(testReport()) }))

export const keyInfo = once(() =>
  z.object({ id: z.string(), name: z.string(), keyPrefix: z.string(), createdAt: time() }),
)

export const file = once(() =>
  z.object({ id: z.string(), name: z.string(), mimeType: z.string(), size: z.int(), url: z.string() }),
)

export const deliverable = once(() =>
  z.object({
    id: z.string(),
    content: z.string().nullable(),
    notes: z.string().nullable(),
    files: z.array(file()),
    createdAt: time(),
  }),
)

export const dispute = once(() =>
  z.object({
    status: z.enum(['open', 'resolved']),
    reason: z.string(),
    openedAt: time(),
    openedFrom: z.enum(taskStates),
    openedBy: z.string(),
    resolvedAt: time().nullable(),
    outcome: z.enum(disputeOutcomes).nullable(),
    outcomeReason: z.string().nullable(),
    refundAmount: cents().nullable(),
  }),
)

export const task = once(() =>
  z.object({
    id: z.string(),
    title: z.string(),
    description: z.string(),
    requirements: z.string().nullable(),
    agreedPrice: cents(),
    status: z.enum(taskStates),
    agentId: z.string(),
    agent: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
    buyerId: z.string(),
    builderId: z.string(),
    buyerAgentId: z.string().nullable(),
    budgetAuthorizationId: z.string().nullable(),
    revisionCount: z.int(),
    maxRevisions: z.int().nullable(),
    deliverable: deliverable().nullable(),
    dispute: dispute().nullable(),
    createdAt: time(),
    submittedAt: time().nullable(),
    acceptedAt: time().nullable(),
    deliveredAt: time().nullable(),
    completedAt: time().nullable(),
    cancelledAt: time().nullable(),
    updatedAt: time(),
  }),
)

/** Its parties know each other by name. */
const party = once(() => z.object({ id: z.string(), name: z.string() }))
export const namedTask = once(() => task().extend({ buyer: party(), builder: party() }))

export const message = once(() =>
  z.object({
    id: z.string(),
    taskId: z.string(),
    senderId: z.string(),
    senderRole: z.enum(['buyer', 'agent', 'system']),
    content: z.string(),
    createdAt: time(),
  }),
)

export const review = once(() =>
  z.object({
    id: z.string(),
    taskId: z.string(),
    agentId: z.string(),
    buyerId: z.string(),
    rating: z.int().min(1).max(5),
    comment: z.string().nullable(),
    createdAt: time(),
  }),
)

/** A review as everyone sees it, without its author and its task, which only the parties know. Source: A-132. */
export const agentReview = once(() => review().omit({ taskId: true, buyerId: true }))

export const sample = once(() =>
  z.object({
    id: z.string(),
    agentId: z.string(),
    title: z.string(),
    input: z.string().nullable(),
    output: z.string(),
    createdAt: time(),
  }),
)

const news = <Type extends string, Agent extends z.ZodType, Data extends z.ZodType>(
  type: Type,
  agentId: Agent,
  data: Data,
) =>
  z.object({
    id: z.string(),
    type: z.literal(type),
    agentId,
    message: z.string(),
    data,
    createdAt: time(),
    readAt: time().nullable(),
  })

/** The fields of `data` depend on `type`. Source. */
export const notification = once(() =>
  z.discriminatedUnion('type', [
    news('webhook_health_failed', z.string(), z.object({ checks: z.array(check()) })),
    news(
      'agent_reviewed',
      z.string(),
      z.object({ decision: z.enum(['approved', 'rejected']), reason: z.string().nullable() }),
    ),
    news('dispute_opened', z.string(), z.object({ taskId: z.string(), reason: z.string() })),
    news(
      'dispute_resolved',
      z.string(),
      z.object({
        taskId: z.string(),
        outcome: z.enum(disputeOutcomes),
        refundAmount: cents(),
        reason: z.string().nullable(),
      }),
    ),
    news('administrator_wrote', z.string(), z.object({ taskId: z.string(), messageId: z.string() })),
    // Of a deposit or a withdrawal.
    news(
      'payment_decided',
      z.null(),
      z.object({
        transactionId: z.string(),
        type: z.enum(['deposit', 'withdrawal']),
        amount: cents(),
        status: z.enum(['completed', 'rejected']),
        reason: z.string().nullable(),
      }),
    ),
  ]),
)

/** `waiting`: others of its task are sent first. Source: A-37. */
export const deliveryStates = ['waiting', 'pending', 'delivered', 'failed'] as const

const attempt = once(() =>
  z.object({
    attempt: z.int(),
    status: z.int().nullable(),
    reason: z.string().nullable(),
    durationMs: z.int(),
    createdAt: time(),
  }),
)

/** One delivery in the log. Source. */
export const delivery = once(() =>
  z.object({
    id: z.string(),
    agentId: z.string(),
    agent: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
    taskId: z.string(),
    task: z.object({ id: z.string(), title: z.string() }).nullable(),
    event: z.string(),
    status: z.enum(deliveryStates),
    attemptCount: z.int(),
    attempts: z.array(attempt()),
    redeliveryOf: z.string().nullable(),
    /** The last delivery that has sent it again. */
    resentAs: z.string().nullable(),
    createdAt: time(),
    nextAttemptAt: time().nullable(),
    endedAt: time().nullable(),
    /** What is wrong with its last attempt. */
    diagnosis: diagnosis().nullable(),
  }),
)

export const deliveryDetails = once(() =>
  delivery().extend({
    /** The signature headers are made for each attempt and not stored. */
    request: z.object({
      method: z.literal('POST'),
      url: z.string().nullable(),
      headers: z.record(z.string(), z.string()),
      /** null: it was deleted, some time after the end of the delivery. */
      body: z.string().nullable(),
    }),
    /** The first 2,048 bytes of the last response; null if there was none, or if it was deleted with the body. */
    answer: z.object({ status: z.int(), body: z.string() }).nullable(),
    attempts: z.array(
      attempt().extend({
        url: z.string(),
        message: z.string(),
        answer: z.string().nullable(),
        /** Of a redirect: where it leads to. */
        location: z.string().nullable(),
        /** In a simulator, while it is kept: where its bytes are. */
        exchangeId: z.string().nullable(),
      }),
    ),
  }),
)

/** What an agent may know of a buyer. */
export const reputation = once(() =>
  z.object({
    userId: z.string(),
    trustTier: z.enum(trustTiers),
    memberSince: time(),
    tasksSubmitted: z.int(),
    tasksCompleted: z.int(),
    tasksCancelled: z.int(),
    disputesOpened: z.int(),
    disputesLost: z.int(),
    averageRatingGiven: z.number().nullable(),
    completionRate: z.number().nullable(),
  }),
)

/** A task of a buyer's history with the caller's agents. */
export const pastTask = once(() =>
  z.object({
    taskId: z.string(),
    title: z.string(),
    status: z.enum(taskStates),
    agreedPrice: cents(),
    createdAt: time(),
    completedAt: time().nullable(),
    rating: z.int().nullable(),
  }),
)

/** The response to a DELETE. Source: A-14. */
export const deleted = once(() => z.object({ id: z.string() }))

export type UserRecord = z.infer<ReturnType<typeof user>>
export type CategoryRecord = z.infer<ReturnType<typeof category>>
export type AgentRecord = z.infer<ReturnType<typeof agent>>
export type OwnAgentRecord = z.infer<ReturnType<typeof ownAgent>>
export type AdminAgentRecord = z.infer<ReturnType<typeof adminAgent>>
export type TestReport = z.infer<ReturnType<typeof testReport>>
export type TaskRecord = z.infer<ReturnType<typeof task>>
export type NamedTaskRecord = z.infer<ReturnType<typeof namedTask>>
export type DeliverableRecord = z.infer<ReturnType<typeof deliverable>>
export type DisputeRecord = z.infer<ReturnType<typeof dispute>>
export type MessageRecord = z.infer<ReturnType<typeof message>>
export type ReviewRecord = z.infer<ReturnType<typeof review>>
export type AgentReviewRecord = z.infer<ReturnType<typeof agentReview>>
export type SampleRecord = z.infer<ReturnType<typeof sample>>
export type NotificationRecord = z.infer<ReturnType<typeof notification>>
export type DeliveryRecord = z.infer<ReturnType<typeof delivery>>
export type DeliveryDetails = z.infer<ReturnType<typeof deliveryDetails>>
export type KeyInfo = z.infer<ReturnType<typeof keyInfo>>
