/** What a simulator has recorded: exchanges with agents, and the entries of its log. Source: A-238. */

import { exchangeDiagnosed, shownMail } from '../dev-records.ts'
import { endpoint } from '../endpoint.ts'
import { exchange, exchangeDetails, logEntry } from '../exchange-records.ts'
import { agentEvents } from '../flow.ts'
import { limits } from '../limits.ts'
import { integerText, moment, oneOf, paging } from '../shapes.ts'
import { grouped } from '../spans.ts'
import * as z from '../zod.ts'

const open = { auth: 'key-or-session', rate: 'general', only: 'dev', unit: 'own', source: 'A-238' } as const
const admin = { ...open, role: 'admin' } as const

const { exchanges, mebibytes, bodyMebibytes } = limits.recording

export const recording = {
  listExchanges: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/dev/exchanges',
    summary: 'List webhooks and callbacks with their responses, newest first',
    description: `The last ${grouped(exchanges)} of this process, or ${mebibytes} MiB of them. failed=true: those without a response of 2xx; without those of samples that are down on purpose, unless meant=true.`,
    query: () =>
      z.object({
        taskId: z.string().max(100).optional(),
        agentId: z.string().max(100).optional(),
        failed: oneOf(['true', 'false']).optional(),
        meant: oneOf(['true', 'false']).optional(),
        event: oneOf(agentEvents).optional(),
        /** `none`: no response came. */
        status: z
          .string()
          .regex(/^(?:[1-5]\d\d|none)$/, { error: 'must be a status like 401, or none' })
          .optional(),
        deliveryId: z.string().max(100).optional(),
        since: moment().optional(),
        ...paging,
      }),
    reply: exchange,
    list: 'items',
  }),
  // The history of a task, which all its parties see whole in a simulator, names its exchanges.
  getExchange: endpoint({
    ...open,
    method: 'GET',
    path: '/api/dev/exchanges/:id',
    summary: 'One webhook or callback, byte for byte, with its response',
    description: `Signatures are part of it; secrets, API keys and cookies are not. A body that is no UTF-8 comes as base64; one over ${bodyMebibytes} MiB is cut.`,
    reply: exchangeDetails,
  }),
  diagnoseExchange: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/dev/exchanges/:id/diagnosis',
    summary: 'What is wrong in one webhook or callback, and what was signed beside what is to be signed',
    description:
      'forms: in parts, of which those that differ are marked; null where nothing else was signed, or nobody knows what. Neither a secret nor a digest is in them.',
    reply: exchangeDiagnosed,
    refusals: ['not_found'],
    source: 'A-288',
  }),
  listMails: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/dev/mails',
    summary: `The last ${limits.page.max} mails that a mail server would have sent, newest first, as far as the log keeps them`,
    reply: () => z.object({ items: z.array(shownMail()) }),
    source: 'A-238',
  }),
  watchEvents: endpoint({
    ...admin,
    method: 'GET',
    path: '/api/dev/events',
    summary: 'The log as it is written: a stream of server-sent events',
    description:
      'The data of each event is an entry of the log as JSON. It begins with what comes next, after the entry that `Last-Event-ID` names, or after the number `after` (0: with the oldest that is kept). ' +
      `An event \`gap\` says how many entries were dropped before they could be read. A comment comes every ${limits.streams.commentMs / 1000} seconds. At most ${limits.streams.atOnce} streams for one session or key, and ${limits.streams.account} for one account.`,
    query: () =>
      z.object({
        after: integerText(0, 999_999_999).optional(),
        taskId: z.string().max(100).optional(),
        follow: oneOf(['true', 'false']).optional(),
      }),
    reply: logEntry,
    stream: true,
    refusals: ['too_many_streams'],
  }),
}
