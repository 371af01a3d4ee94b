/** What a simulator lets go wrong on purpose on the way to agents and back. Source: A-264. */
import type { FaultName } from '../api/faults.ts'
import type { OutgoingResult } from '../world/world.ts'

interface WantedFault {
  readonly name: FaultName
  /** An event of webhooks or an action of callbacks; null: the next of any. */
  readonly on: string | null
  /** null: of any agent, of any task. */
  readonly agentId: string | null
  readonly forTaskId: string | null
}

export interface ArmedFault extends WantedFault {
  readonly id: string
  /** Domain time. */
  readonly armedAt: number
  /** The task that has met it, and when; null: none yet. */
  readonly taskId: string | null
  readonly metAt: number | null
}

/** What became of an attempt, and what it met on purpose. */
export type Attempted = OutgoingResult & { readonly fault?: FaultName }

interface WebhookTold {
  readonly taskId: string
  readonly agentId: string
  readonly body: string
}

export interface Faults {
  /** Sends a webhook, whatever it meets. `renew`: signs it anew. */
  webhook<Signed>(
    about: WebhookTold,
    signed: Signed,
    way: {
      send(signed: Signed, fault: FaultName | null): Promise<OutgoingResult>
      renew(signed: Signed, attempt: number): Signed
    },
  ): Promise<Attempted>
  /** Returns the fault that a callback has met on its way here, by the array of its header lines. */
  metBy(rawHeaders: readonly string[]): FaultName | null
  /** Returns null if no more can wait. */
  arm(wanted: WantedFault): ArmedFault | null
  /** Those that wait, and the last that were met. */
  all(): readonly ArmedFault[]
  /** Takes back those that wait, or the one with this id. Returns them. */
  clear(id?: string): readonly ArmedFault[]
}
