/**
 * What may go wrong between a marketplace and an agent, and can be made to go wrong on purpose: in a simulator, with `emit`, and by the
 * judge. Commands, their help and the documents take the names from here. Source: A-264.
 */
import { agentEvents } from './flow.ts'

interface FaultRecord {
  /** Which way: from the marketplace to the agent, or back. */
  readonly direction: 'webhook' | 'callback'
  /** What happens. */
  readonly does: string
  /** It shows something where only one event is sent, and no marketplace follows. */
  readonly alone: boolean
}

export const faults = {
  copy: { direction: 'webhook', does: 'it comes once more, byte for byte, after it was answered', alone: true },
  'copy-at-once': { direction: 'webhook', does: 'it comes twice at the same moment, byte for byte', alone: true },
  'answer-lost': {
    direction: 'webhook',
    does: 'the agent gets it, and its answer is lost: it comes again, signed anew',
    alone: true,
  },
  'webhook-lost': { direction: 'webhook', does: 'it is lost on the way, and sent again', alone: true },
  late: { direction: 'webhook', does: 'it comes three seconds late', alone: true },
  overtaken: { direction: 'webhook', does: 'it comes after the next one to the agent', alone: false },
  'response-lost': {
    direction: 'callback',
    does: 'it counts, and the connection is cut before the response',
    alone: true,
  },
  'bad-gateway': { direction: 'callback', does: 'it counts, and the agent is told 502', alone: true },
  'late-response': { direction: 'callback', does: 'it counts, and the response takes ten seconds', alone: true },
  unavailable: { direction: 'callback', does: 'it does not arrive: the agent is told 503', alone: true },
  'too-many': {
    direction: 'callback',
    does: 'it does not arrive: the agent is told 429, and to wait for two seconds',
    alone: true,
  },
  'lost-race': { direction: 'callback', does: 'it does not arrive: the agent is told 409', alone: false },
  redirect: { direction: 'callback', does: 'it does not arrive: the agent is sent elsewhere with 307', alone: false },
  'changed-byte': { direction: 'callback', does: 'one byte is another when it arrives', alone: false },
} as const satisfies Readonly<Record<string, FaultRecord>>

export type FaultName = keyof typeof faults
type Names<Direction> = {
  [Name in FaultName]: (typeof faults)[Name]['direction'] extends Direction ? Name : never
}[FaultName]
export type WebhookFaultName = Names<'webhook'>
export type CallbackFaultName = Names<'callback'>

export const faultNames = Object.keys(faults) as [FaultName, ...FaultName[]]

const callbackActions = ['accept', 'reject', 'deliver', 'message'] as const

/** What it may happen to: an event of webhooks, or an action of callbacks. */
export const targetsOf = (name: FaultName): readonly string[] =>
  faults[name].direction === 'webhook' ? agentEvents : callbackActions

/** A line for each, for people. */
export const faultsInWords = (names: readonly FaultName[] = faultNames): string =>
  names.map(name => `  ${name.padEnd(14)} ${faults[name].direction}: ${faults[name].does}`).join('\n')
