/** Makes an example body of each event, to send to an agent. */
import { type EventData, type EventExtra, type EventName, type EventPayload, events } from '../../api/events.ts'
import type { TaskState } from '../../api/flow.ts'

export const eventNames = Object.keys(events) as EventName[]

interface Given {
  taskId: string
  callbackUrl: string
  /** ISO 8601 */
  timestamp: string
}

/** The state of the task that each event tells of. */
export const stateAfter: Record<EventName, TaskState> = {
  'task.submitted': 'pending',
  'task.cancelled': 'cancelled',
  'task.revision_requested': 'in_progress',
  'task.approved': 'completed',
  'task.disputed': 'delivered',
  'task.message': 'in_progress',
  'task.delivered_to_buyer': 'delivered',
}

const extra: { readonly [Name in EventName]: (given: Given) => EventExtra<Name> } = {
  'task.submitted': () => ({}),
  'task.cancelled': () => ({}),
  'task.revision_requested': () => ({ revisionReason: 'Please keep the original headings.' }),
  'task.approved': () => ({}),
  'task.disputed': () => ({ disputeReason: 'Half of the leaflet is missing.' }),
  'task.message': () => ({ message: 'How is it going?' }),
  'task.delivered_to_buyer': ({ timestamp: createdAt }) => ({
    deliverable: { id: 'dlb_sample', content: 'The leaflet, translated.', notes: null, files: [], createdAt },
  }),
}

/** Returns a payload as the marketplace would send it. */
export function sampleEvent(event: EventName, given: Given): EventPayload {
  const { taskId, callbackUrl, timestamp } = given
  const data: EventData = {
    taskId,
    agentId: 'agt_sample',
    title: 'Translate a leaflet',
    description: 'Translate the leaflet of a museum into German. Keep the headings, and the tone friendly.',
    requirements: '',
    agreedPrice: 500,
    status: stateAfter[event],
    callbackUrl,
    requestor: { id: 'usr_sample', type: 'user', trustTier: 'trusted' },
  }
  return { event, timestamp, data: { ...data, ...extra[event](given) } } as EventPayload
}
