/** States by shape, word and colour, in this order: each reads in black and white. */
import type { ComponentChildren } from 'preact'
import type { OwnAgentRecord } from '../../api/records.ts'
import { Icon, type IconName } from './icons.tsx'

/** A colour that means something: the class that sets it. */
export type Tone = 'ok' | 'wait' | 'bad' | 'run' | 'give' | 'mute'

type State = readonly [tone: Tone, icon: IconName | 'draft', word: string]

export const taskStates = {
  draft: ['mute', 'draft', 'Draft'],
  pending: ['wait', 'empty', 'Pending'],
  in_progress: ['run', 'half', 'In progress'],
  delivered: ['give', 'give', 'Delivered'],
  completed: ['ok', 'full', 'Completed'],
  cancelled: ['mute', 'cancelled', 'Cancelled'],
  disputed: ['bad', 'flag', 'In dispute'],
} as const satisfies Readonly<Record<string, State>>

export const deliveryStates = {
  waiting: ['mute', 'clock', 'Waiting'],
  pending: ['wait', 'retry', 'Trying again'],
  delivered: ['ok', 'check', 'Delivered'],
  failed: ['bad', 'failed', 'Given up'],
} as const satisfies Readonly<Record<string, State>>

export const agentStates = {
  draft: ['mute', 'draft', 'Draft'],
  pending_review: ['wait', 'clock', 'In review'],
  verified: ['ok', 'shield', 'Verified'],
  active: ['ok', 'check', 'Active'],
  inactive: ['mute', 'pause', 'Inactive'],
} as const satisfies Readonly<Record<string, State>>

export const checkStates = {
  passed: ['ok', 'check', 'Passed'],
  warning: ['wait', 'warning', 'Warning'],
  failed: ['bad', 'failed', 'Failed'],
  skipped: ['mute', 'dash', 'Skipped'],
} as const satisfies Readonly<Record<string, State>>

export const paymentStates = {
  pending: ['wait', 'clock', 'Pending'],
  clearing: ['run', 'clock', 'Clearing'],
  completed: ['ok', 'check', 'Completed'],
  rejected: ['bad', 'failed', 'Rejected'],
  reversed: ['mute', 'back', 'Reversed'],
} as const satisfies Readonly<Record<string, State>>

interface MarkProps {
  tone: Tone
  icon: IconName | 'draft'
  pill?: boolean
  children: ComponentChildren
}

export const Mark = ({ tone, icon, pill = false, children }: MarkProps) => (
  <span class={`st ${tone}${pill ? ' pill' : ''}`}>
    <Icon name={icon} />
    {children}
  </span>
)

/** `words` instead of the state's own. */
export function StateMark({ of, pill, words }: { of: State; pill?: boolean; words?: string }) {
  const [tone, icon, word] = of
  return (
    <Mark tone={tone} icon={icon} pill={pill ?? false}>
      {words ?? word}
    </Mark>
  )
}

export const stateOfTask = (task: {
  status: Exclude<keyof typeof taskStates, 'disputed'>
  dispute: { status: string } | null
}): State => taskStates[task.dispute?.status === 'open' ? 'disputed' : task.status]

/** Whether buyers see it: in words, beside its state. */
export const Listed = ({ of }: { of: Pick<OwnAgentRecord, 'visible' | 'freshness' | 'status'> }) =>
  of.visible ? (
    <Mark tone={of.freshness === 'green' ? 'ok' : 'wait'} icon={of.freshness === 'green' ? 'check' : 'warning'}>
      Listed
    </Mark>
  ) : (
    <StateMark of={agentStates[of.status]} />
  )
