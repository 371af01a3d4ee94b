/** What administrators do. Source. */

import { once } from '../../shared/once.ts'
import { endpoint } from '../endpoint.ts'
import { agentStates, disputeOutcomes, taskStates } from '../flow.ts'
import { limits } from '../limits.ts'
import { connectStatuses, ledgerCheck, payment, person } from '../money-records.ts'
import { adminAgent, agentChecks, message, ownAgent, task, user } from '../records.ts'
import { anyEmail, cents, flag, id, integer, oneOf, paging, someOf, text, time } from '../shapes.ts'
import * as z from '../zod.ts'
import { lookedThrough, messageInput, taskSearch } from './tasks.ts'

const admin = { auth: 'key-or-session', role: 'admin', rate: 'general' } as const
/** Money needs an administrator's session. Source: A-13. */
const adminMoney = { ...admin, auth: 'session' } as const

/** Whose money it is reads the reason. */
const rejection = () => z.object({ reason: text(limits.reason.reject).nullable().optional() })

const paymentStatuses = ['pending', 'completed', 'rejected'] as const

export const adminUser = once(() =>
  user().extend({
    suspended: flag(),
    banned: flag(),
    identityVerified: flag(),
    chargebacks: z.int(),
    connectStatus: z.enum(connectStatuses),
  }),
)

/** What waits for somebody or something, counted up to the last entry that a list shows. */
const waiting = () => z.object({ count: z.int(), oldestAt: time().nullable() })

/** `limit`: from so many bytes on it is full. */
const fill = () => z.object({ bytes: z.int(), limit: z.int() })

const purge = () =>
  z.object({
    userId: z.string(),
    begunBy: z.string(),
    begunAt: z.string(),
    endedAt: z.string().nullable(),
    /** Rows that were removed or emptied, and the bytes that they took of the quotas. */
    rowsRemoved: z.int(),
    bytesRemoved: z.int(),
    /** Tasks that are not ended. Their texts stay until they are, and it is purged again. */
    openTasks: z.int(),
    done: flag(),
  })

/** `id`: what stands before all that it has sealed. `known`: this instance has it. `canGo`: nothing is sealed with it any more. */
const secretKeys = () =>
  z.array(z.object({ id: z.string(), seals: flag(), known: flag(), sealed: z.int(), canGo: flag() }))

export const admins = {
  adminListAgents: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/agents',
    summary: 'List agents of every builder',
    query: () => z.object({ status: oneOf(agentStates).optional(), ...paging }),
    reply: adminAgent,
    list: 'items',
    unit: 'read',
    source: 'A-13',
  }),
  adminGetAgent: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/agents/:id',
    summary: 'Details of any agent, and its last tests',
    reply: () => adminAgent().extend({ checks: agentChecks() }),
    unit: 'read',
    refusals: ['not_found'],
    source: 'A-13',
  }),
  approveAgent: endpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/agents/:id/approve',
    summary: 'Approve an agent under review',
    reply: ownAgent,
    unit: 'write',
    refusals: ['not_found', 'agent_out_of_turn'],
    source: 'A-13, A-30',
  }),
  rejectAgent: endpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/agents/:id/reject',
    summary: 'Send an agent under review back to draft',
    body: () => z.object({ reason: text(limits.reason.review) }),
    reply: ownAgent,
    unit: 'write',
    refusals: ['not_found', 'agent_out_of_turn'],
    source: 'A-13, A-30',
  }),
  adminListUsers: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/users',
    summary: 'List accounts, or the one with an email; secondFactor=missing: administrators who have none',
    description: 'q: how the name or the email begins, or an id.',
    query: () =>
      z.object({
        email: anyEmail().optional(),
        secondFactor: oneOf(['missing']).optional(),
        q: text(limits.search.query).optional(),
        ...paging,
      }),
    reply: adminUser,
    list: 'items',
    unit: 'read',
    source: 'A-13',
  }),
  adminGetUser: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/users/:id',
    summary: 'One account, and what is in its wallet',
    reply: () => adminUser().extend({ wallet: z.object({ available: cents(), held: cents(), clearing: cents() }) }),
    unit: 'read',
    refusals: ['not_found'],
    source: 'A-13',
  }),
  adminUpdateUser: endpoint({
    ...admin,
    method: 'PUT',
    path: '/api/admin/users/:id',
    summary: 'Suspend, ban, verify, change the role or the payout account of an account',
    description:
      'With `secondFactor: false`, from a session, it turns off the second factor of somebody who has lost the device and ' +
      'the recovery codes.',
    body: () =>
      z.object({
        suspended: flag().optional(),
        banned: flag().optional(),
        identityVerified: flag().optional(),
        chargebacks: integer([0, 1_000_000]).optional(),
        isBuilder: flag().optional(),
        // Where payments are handled by hand, this completes what POST /api/wallet/connect began.
        connectStatus: oneOf(connectStatuses).optional(),
        secondFactor: z.literal(false, { error: 'must be false: only its owner turns a second factor on' }).optional(),
      }),
    reply: adminUser,
    unit: 'write',
    refusals: ['not_found', 'open_work', 'session_needed'],
    source: 'A-12, A-13, A-194',
  }),
  purgeUser: endpoint({
    ...adminMoney,
    method: 'POST',
    path: '/api/admin/users/:id/purge',
    summary: 'Remove what a banned account has written',
    description:
      'Removes its agents, samples, drafts, the texts of its ended tasks, its messages, reviews, notifications, kept responses, ' +
      'webhook bodies, keys and sessions, and what it delivered to tasks that were cancelled. Money stays, and so does what ' +
      'buyers have bought. One request works for some moments; while `done` is false, send it again. A purge that was cut off ' +
      'goes on where it was.',
    reply: purge,
    unit: 'own',
    refusals: ['not_found', 'not_banned'],
    source: 'A-292',
  }),
  adminQueues: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/queues',
    summary: 'What waits: for a decision, to be sent',
    reply: () =>
      z.object({
        ...{ agents: waiting(), disputes: waiting(), deposits: waiting(), withdrawals: waiting() },
        ...{ webhooks: waiting(), mails: waiting() },
      }),
    unit: 'read',
    source: 'A-13',
  }),
  adminUsage: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/usage',
    summary: 'How full the database and the files are',
    reply: () => z.object({ database: fill().nullable(), files: fill() }),
    unit: 'read',
    source: 'A-291',
  }),
  adminSecretKey: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/secret-key',
    summary: 'The keys that seal secrets, and how much each has sealed',
    reply: () => z.object({ keys: secretKeys() }),
    unit: 'read',
    source: 'A-8',
  }),
  rotateSecretKey: endpoint({
    ...adminMoney,
    method: 'POST',
    path: '/api/admin/secret-key/rotate',
    summary: 'Seal all secrets with a new key',
    description:
      'On a database file whose key the program keeps, it makes a new key; where keys are given, the first of several is the new ' +
      'one. Everything that is sealed with another is sealed anew, while requests and webhooks go on. One request works for some ' +
      'moments; while `done` is false, send it again. A rotation that was cut off goes on where it was.',
    reply: () => z.object({ done: flag(), resealed: z.int(), keys: secretKeys() }),
    unit: 'own',
    refusals: ['one_key_given', 'key_rotates'],
    source: 'A-8',
  }),
  adminListUsage: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/usage/accounts',
    summary: 'The accounts that take most of it',
    query: () => z.object({ by: oneOf(['texts', 'files']).optional(), ...paging }),
    reply: () =>
      z.object({
        id: z.string(),
        name: z.string(),
        email: z.string(),
        banned: flag(),
        textBytes: z.int(),
        fileBytes: z.int(),
      }),
    list: 'items',
    unit: 'read',
    source: 'A-291',
  }),
  adminListTasks: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/tasks',
    summary: 'List tasks of everyone; disputed=true: those in open dispute',
    description: `${lookedThrough} userId: those that this account sees.`,
    query: () => z.object({ status: someOf(taskStates).optional(), ...taskSearch, userId: id().optional(), ...paging }),
    reply: () => task().extend({ buyer: person(), builder: person() }),
    list: 'items',
    unit: 'read',
    source: 'A-13',
  }),
  resolveTask: endpoint({
    ...adminMoney,
    method: 'POST',
    path: '/api/admin/tasks/:id/resolve',
    summary: 'Resolve a dispute: refund, release or split',
    description: 'Both parties read the reason.',
    body: () =>
      z.object({
        outcome: oneOf(disputeOutcomes),
        refundAmount: integer([1, limits.price.max]).optional(),
        reason: text(limits.reason.resolution).nullable().optional(),
      }),
    example: { outcome: 'split', refundAmount: 600 },
    reply: task,
    unit: 'write',
    refusals: ['not_found', 'nothing_to_resolve', 'task_out_of_turn', 'split_amount', 'lost_race'],
    source: 'A-13, A-32',
  }),
  adminSendMessage: endpoint({
    ...admin,
    method: 'POST',
    path: '/api/admin/tasks/:id/messages',
    summary: 'Write to both parties of a task',
    description: 'In any state of the task. Both are notified; the agent gets no webhook.',
    body: messageInput,
    reply: message,
    status: 201,
    unit: 'write',
    grows: true,
    refusals: ['not_found', 'texts_quota'],
    source: 'A-20, A-32',
  }),
  adminListDeposits: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/deposits',
    summary: 'List deposits',
    query: () => z.object({ status: oneOf(paymentStatuses).optional(), ...paging }),
    reply: payment,
    list: 'items',
    unit: 'read',
    source: 'A-13',
  }),
  adminListWithdrawals: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/withdrawals',
    summary: 'List withdrawals',
    query: () => z.object({ status: oneOf(paymentStatuses).optional(), ...paging }),
    reply: payment,
    list: 'items',
    unit: 'read',
    source: 'A-13',
  }),
  confirmDeposit: endpoint({
    ...adminMoney,
    method: 'POST',
    path: '/api/admin/deposits/:id/confirm',
    summary: 'Confirm a deposit that has arrived',
    reply: payment,
    unit: 'write',
    refusals: ['not_found', 'payment_decided'],
    source: 'A-34',
  }),
  rejectDeposit: endpoint({
    ...adminMoney,
    method: 'POST',
    path: '/api/admin/deposits/:id/reject',
    summary: 'Reject a deposit',
    body: rejection,
    reply: payment,
    unit: 'write',
    refusals: ['not_found', 'payment_decided'],
    source: 'A-34',
  }),
  confirmWithdrawal: endpoint({
    ...adminMoney,
    method: 'POST',
    path: '/api/admin/withdrawals/:id/confirm',
    summary: 'Confirm a withdrawal that was paid out',
    reply: payment,
    unit: 'write',
    refusals: ['not_found', 'payment_decided'],
    source: 'A-34',
  }),
  rejectWithdrawal: endpoint({
    ...adminMoney,
    method: 'POST',
    path: '/api/admin/withdrawals/:id/reject',
    summary: 'Reject a withdrawal; the money goes back',
    body: rejection,
    reply: payment,
    unit: 'write',
    refusals: ['not_found', 'payment_decided'],
    source: 'A-34',
  }),
  checkLedger: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/ledger/check',
    summary: 'Check that the money adds up',
    reply: ledgerCheck,
    unit: 'read',
    source: 'A-13, A-33',
  }),
}
