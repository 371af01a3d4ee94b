/** What happens in a run, made up by hand: a test says what differs from the usual. */
import { contentOf, type Happening, History, type Recorded } from '../../src/conform/history/history.ts'

type Of<Kind extends Happening['kind']> = Extract<Happening, { kind: Kind }>

const url = 'http://localhost:1/'
export const body = contentOf(Buffer.from('{}'))

export const begin: Happening = {
  ...{ kind: 'begin', schema: 'conformance-history/1', version: '1.0.0', seed: 7, declared: [] },
  ...{ agent: { url, command: null }, patience: { answer: 1, work: 1 } },
}

export const task = (label: string): Happening => ({
  ...{ kind: 'task', label, taskId: `task of ${label}`, canary: '', price: 500, sample: 'usual' },
})

/** A genuine one, answered with this status. */
export const webhook = (label: string, status: number | null, more: Partial<Of<'webhook'>> = {}): Happening => ({
  ...{ kind: 'webhook', label, taskId: `task of ${label}`, event: 'task.submitted', deliveryId: 'd', attempt: 1 },
  ...{ change: null, genuine: true, method: 'POST', url, headers: [], body, ms: 1 },
  ...{ answer: status === null ? null : { status, headers: [], body }, error: null },
  ...more,
})

/** A message of the agent that was taken. */
export const reply = (label: string, more: Partial<Of<'callback'>> = {}): Happening => ({
  ...{ kind: 'callback', label, taskId: `task of ${label}`, action: 'message', method: 'POST', path: '/', headers: [] },
  ...{ body, signature: 'valid', answer: { status: 201, headers: [], body }, fault: null, ms: 1 },
  ...more,
})

export const step = (label: string, trigger: string, to = ''): Happening => ({
  ...{ kind: 'step', taskId: `task of ${label}`, trigger, from: null, to },
})

export const played = (scenario: string, more: Partial<Of<'scenario'>> = {}): Happening => ({
  ...{ kind: 'scenario', scenario, outcome: 'done', why: '', byDeclaration: false, ms: 1, ...more },
})

/** Each happening comes so much later than the last. */
export const historyOf = (happenings: readonly Happening[], everyMs = 1, from = 1_767_225_600_000) =>
  new History(
    happenings.map((one, at): Recorded => ({ seq: at + 1, lane: 'real', realAt: from + at * everyMs, at: 0, ...one })),
  )
