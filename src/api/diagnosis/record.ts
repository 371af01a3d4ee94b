/** What the interface tells of what is wrong: one record, wherever it stands. Source: A-288. */

import { once } from '../../shared/once.ts'
import { time } from '../shapes.ts'
import * as z from '../zod.ts'
import { type Cause, causeNames, causes } from './table.ts'

const evidence = once(() =>
  z.object({
    taskId: z.string().nullable(),
    deliveryId: z.string().nullable(),
    attempt: z.int().nullable(),
    exchangeId: z.string().nullable(),
    status: z.int().nullable(),
  }),
)

export const diagnosis = once(() =>
  z
    .object({
      cause: z.enum(causeNames),
      certainty: z.enum(['sure', 'likely']),
      isMeant: z.boolean(),
      since: time().nullable(),
      text: z.string(),
      fix: z.string(),
      commands: z.array(z.string()),
      evidence: evidence(),
    })
    .meta({
      description:
        'What is wrong, and what to do. certainty: sure only where a recomputation or a recorded fact proves it. isMeant: somebody wanted it so, as an armed fault. commands: what to type behind the name of the program.',
    }),
)

export type DiagnosisRecord = z.infer<ReturnType<typeof diagnosis>>

/** What was found out, before it is told. */
export interface Finding {
  readonly cause: Cause
  readonly certainty: 'sure' | 'likely'
  /** What is wrong, in whole sentences. */
  readonly text: string
  /** Where the request itself says better what to do than the table. */
  readonly fix?: string
  readonly location?: string | null
  /** In ms of domain time. */
  readonly since?: number | null
  /** The webhook whose work this has stopped: it was taken, so it will not come again by itself. */
  readonly stopped?: string | null
  readonly evidence?: Partial<DiagnosisRecord['evidence']>
}

/** What the commands are about. */
export interface About {
  readonly isDev: boolean
  /** Where agents call back. */
  readonly baseUrl?: string
  readonly agent?: string | null | undefined
  /** Its URL, where dev passes its webhooks on, under a name of its own. */
  readonly forwarded?: string | null
}

const NONE = { taskId: null, deliveryId: null, attempt: null, exchangeId: null, status: null }

export function toRecord(finding: Finding, about: About): DiagnosisRecord {
  const { cause, certainty, text, since = null, location = null } = finding
  const { fix, inDev, next, nextInDev, isMeant = false } = causes[cause]
  const asDev = cause === 'redirect' ? Boolean(about.forwarded) : about.isDev
  const found = { ...NONE, ...finding.evidence }
  const places: Places = {
    agent: about.agent,
    delivery: finding.stopped ?? found.deliveryId,
    exchange: found.exchangeId,
    task: found.taskId,
    location: webUrl(location),
    forwarded: about.forwarded,
    port: loopbackPort(about.baseUrl),
  }
  return {
    cause,
    certainty,
    isMeant,
    since: since === null ? null : new Date(since).toISOString(),
    text,
    fix: finding.fix ?? ((asDev && inDev) || fix),
    commands: [
      ...((asDev && nextInDev) || next || []),
      ...(finding.stopped ? ['deliveries resend {delivery}'] : []),
    ].flatMap(words => filled(words, places)),
    evidence: found,
  }
}

type Places = Readonly<Record<string, string | null | undefined>>

/** Nothing that a shell reads as more than one word. */
const WORD = /^[\w./:?&=%@+~-]{1,500}$/

function filled(words: string, places: Places): string[] {
  let isWhole = true
  const line = words.replaceAll(/\{(\w+)\}/g, (_, place: string) => {
    const value = places[place]
    isWhole &&= typeof value === 'string' && WORD.test(value)
    return /[?&]/.test(value ?? '') ? `'${value}'` : (value ?? '')
  })
  return isWhole ? [line] : []
}

/** null: the address is none that means the container itself in a container. */
const loopbackPort = (baseUrl = ''): string | null =>
  /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):(\d+)(?:\/|$)/.exec(baseUrl)?.[1] ?? null

const webUrl = (location: string | null) => (location !== null && /^https?:\/\//.test(location) ? location : null)

/** For people: what is wrong, and what to do. */
export const inWords = ({ text, fix }: Pick<DiagnosisRecord, 'text' | 'fix'>) => `${text} ${fix}`.trim()
