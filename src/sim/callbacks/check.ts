/** Judges the callbacks of one task as the marketplace would, and says what is wrong with them. Source: I-callback, A-38. */
import type { IncomingHttpHeaders } from 'node:http'
import { diagnose } from '../../api/diagnosis/diagnose.ts'
import { parseCallback } from '../../api/endpoints/callback-body.ts'
import { type FieldErrors, Refusal, refuse } from '../../api/failures.ts'
import { type TaskState, type TaskTrigger, taskEdge } from '../../api/flow.ts'
import { parseBody } from '../../api/json.ts'
import { faultText, SIGNATURE_HEADER, TIMESTAMP_HEADER, verify } from '../../api/signature.ts'

export interface JudgedCallback {
  /** `?` if the body does not say. */
  action: string
  /** The status that the marketplace would respond with. */
  status: number
  /** What is wrong with it; null if nothing is. */
  fault: string | null
  /** What to do about that, if it is known. */
  fix: string | null
  /** What works, and yet should be better. */
  advice: string | null
}

interface Judged extends JudgedCallback {
  response: object
}

export interface RawCallback {
  headers: IncomingHttpHeaders
  body: Buffer
}

/** One task that an agent was sent, from the state that its webhook told. */
export class SentTask {
  readonly id: string
  readonly callbacks: JudgedCallback[] = []
  state: TaskState
  readonly #secret: string
  #repeats = false
  readonly #answered = new Map<string, Judged>()

  constructor(id: string, state: TaskState, secret: string) {
    this.id = id
    this.state = state
    this.#secret = secret
  }

  receive(request: RawCallback, now: number): Judged {
    const signature = String(request.headers[SIGNATURE_HEADER.toLowerCase()])
    // The very same request again gets the first answer, and has no second effect.
    const known = this.#answered.get(signature)
    if (known) return known
    const judged = this.#forgiven(this.#judge(request, now))
    if (judged.status !== 401) this.#answered.set(signature, judged)
    const { response: _, ...callback } = judged
    this.callbacks.push(callback)
    return judged
  }

  /** The response to its first callback is lost: that it sends the same once more, signed anew, is right then, and 400 the answer. */
  forgiveRepeats(): void {
    this.#repeats = true
  }

  #forgiven(judged: Judged): Judged {
    const isRepeat = this.callbacks.some(({ action, status }) => action === judged.action && status < 300)
    if (!this.#repeats || judged.status !== 400 || !isRepeat) return judged
    this.#repeats = false
    return { ...judged, fault: null, fix: null }
  }

  #judge({ headers, body: raw }: RawCallback, now: number): Judged {
    let action = '?'
    try {
      this.#proveSignature(headers, raw, now)
      const body = parseBody(raw, headers['content-type'])
      if (typeof body.action === 'string') action = body.action
      if (body.taskId !== undefined && body.taskId !== this.id)
        throw new BadSignature('Its taskId names another task', null)
      parseCallback(body)
      this.#step(action as TaskTrigger)
      const task = { id: this.id, status: this.state }
      const advice = body.taskId === undefined ? NO_TASK_ID : null
      const data = action === 'message' ? { taskId: this.id, content: body.content } : { task }
      return {
        action,
        status: action === 'message' ? 201 : 200,
        fault: null,
        fix: null,
        advice,
        response: { success: true, data },
      }
    } catch (error) {
      if (error instanceof BadSignature) return refused(action, refuse('bad_signature'), error.message, error.fix)
      if (error instanceof Refusal) return refused(action, error, faultIn(error))
      throw error
    }
  }

  #proveSignature(headers: IncomingHttpHeaders, body: Buffer, now: number): void {
    const [timestamp, signature] = [TIMESTAMP_HEADER, SIGNATURE_HEADER].map(name => headers[name.toLowerCase()])
    const verdict = verify({ secret: this.#secret, timestamp, signature, body, now })
    if (verdict.ok) return
    const lines = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
    const diagnosis = diagnose({ headers: lines, body }, [{ secret: this.#secret, kind: 'current' }], now)
    throw new BadSignature(diagnosis?.text ?? faultText(verdict.reason), diagnosis?.fix ?? null)
  }

  #step(trigger: TaskTrigger): void {
    const edge = taskEdge(this.state, trigger, 'builder')
    if (!edge) throw refuse('task_out_of_turn', PAST[trigger] ?? trigger, this.state)
    this.state = edge.to
  }
}

/** The response says no more than that it is 401. */
class BadSignature extends Error {
  readonly fix: string | null
  constructor(message: string, fix: string | null) {
    super(message)
    this.fix = fix
  }
}

const NO_TASK_ID =
  'it has no taskId: two equal bodies that are signed in the same millisecond for two tasks count as one'
const PAST: Partial<Record<TaskTrigger, string>> = {
  accept: 'accepted',
  reject: 'rejected',
  deliver: 'delivered',
  message: 'written about',
}

const refused = (
  action: string,
  { status, message: error, errors }: Refusal,
  fault: string,
  fix: string | null = null,
): Judged => ({
  ...{ action, status, fault, fix, advice: null },
  response: { success: false, error, ...(errors && { errors }) },
})

function faultIn({ message, errors }: Refusal): string {
  const [first] = Object.entries((errors ?? {}) as FieldErrors)
  return first ? `${first[0]} ${first[1][0]}` : message
}
