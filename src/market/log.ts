/** What happens, as typed lines: the dev screen, the --json stream and the deployment's log all read these. */

export type Happening =
  | {
      type: 'request'
      method: string
      path: string
      /** The path as the interface writes it; null if nothing is there. */
      route: string | null
      status: number
      ms: number
      requestId: string
      userId: string | null
    }
  | {
      type: 'webhook'
      event: string
      taskId: string
      agentId: string
      deliveryId: string
      attempt: number
      outcome: 'delivered' | 'retry' | 'failed'
      status: number | null
      reason: string | null
      ms: number
      nextAttemptAt: string | null
    }
  | { type: 'callback'; taskId: string; action: string; status: number; error: string | null }
  | { type: 'money'; kind: string; amount: number; from: string; to: string; taskId: string | null }
  | { type: 'task'; taskId: string; trigger: string; from: string | null; to: string }
  | { type: 'check'; agentId: string; check: number; name: string; status: string; message: string; durationMs: number }
  | {
      type: 'mail'
      mailId: string
      kind: string
      /** `shown`: no mail is configured in the simulator, so the letter stands here. */
      outcome: 'sent' | 'retry' | 'failed' | 'shown'
      reason: string | null
      letter?: { to: string; subject: string; text: string }
    }
  | { type: 'clock'; now: string; byMs: number }
  | { type: 'info'; message: string }
  | { type: 'warning'; message: string }
  | { type: 'error'; message: string; stack?: string; requestId?: string }

/** Never throws, never blocks, never holds a secret. */
export type Log = (happening: Happening) => void
