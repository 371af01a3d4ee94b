/** Reads and records the deliveries to the user's own agent about some tasks. */
import type { DeliveryDetails, DeliveryRecord } from '../../api/records.ts'
import type { Client } from '../../client/typed-client.ts'
import { type BoughtTask, contentOf, type WebhookEvent } from '../history/history.ts'
import { stopwatch } from '../history/machine-time.ts'
import type { Recorder } from '../history/recorder.ts'
import type { Patient } from './retries.ts'

interface LogOptions {
  readonly client: Client
  readonly agentId: string
  readonly recorder: Recorder
  readonly tasks: readonly BoughtTask[]
  readonly patient: Patient
  pause(ms: number): Promise<void>
}

/** So long an event may be on its way. */
const LIMIT_MS = 35_000
const PAUSE_MS = 500
/** Five tasks have some thirty events. */
const MOST = 100

/** Waits until each event was tried once. */
export async function keepDeliveries(options: LogOptions): Promise<void> {
  const { client, agentId, recorder, tasks, patient, pause } = options
  const elapsed = stopwatch()
  const labelOf = new Map(tasks.map(({ id, label }) => [id, label]))
  const isUntried = ({ status, attemptCount }: DeliveryRecord) =>
    attemptCount === 0 && (status === 'pending' || status === 'waiting')
  let mine: DeliveryRecord[]
  for (;;) {
    const { items } = await patient.ask(() => client.listDeliveries({ id: agentId, limit: MOST }))
    mine = items.filter(({ taskId }) => labelOf.has(taskId))
    // What waits behind an event that was refused is not tried for a day.
    const isHeldUp = ({ taskId }: DeliveryRecord) =>
      mine.some(one => one.taskId === taskId && one.attemptCount > 0 && one.status === 'pending')
    if (!mine.some(one => isUntried(one) && !isHeldUp(one)) || elapsed() > LIMIT_MS) break
    await pause(PAUSE_MS)
  }
  for (const { id: deliveryId } of mine.reverse()) {
    const details = await patient.ask(() => client.getDelivery({ id: agentId, deliveryId }))
    for (const event of eventsOf(details, labelOf.get(details.taskId)!)) {
      const time = Date.parse(event.endedAt)
      recorder.add(event.webhook, null, { now: () => time, realNow: () => time })
    }
  }
}

/** One for each attempt. Signatures are not kept. */
function eventsOf({ id, taskId, event, request, attempts }: DeliveryDetails, label: string) {
  return attempts.map(({ attempt, url, status, message, answer, durationMs: ms, createdAt }) => {
    const webhook: WebhookEvent = {
      ...{ kind: 'webhook', label, taskId, event, deliveryId: id, attempt, change: null, genuine: true },
      ...{
        method: 'POST',
        url,
        headers: Object.entries(request.headers),
        body: contentOf(Buffer.from(request.body ?? '')),
      },
      answer: status === null ? null : { status, headers: [], body: contentOf(Buffer.from(answer ?? '')) },
      error: status === null ? message : null,
      ms,
    }
    return { webhook, endedAt: createdAt }
  })
}
