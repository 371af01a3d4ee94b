/** Parses the body of a signed callback. Source: I-callback. */

import { type FieldErrors, invalid, Refusal } from '../failures.ts'
import { parseBody } from '../json.ts'
import * as z from '../zod.ts'
import { deliverableInput, messageInput, reasonOf } from './tasks.ts'

type CallbackAction =
  | { action: 'accept' }
  | { action: 'reject'; reason: z.infer<typeof reasonOf.reject>['reason'] }
  | { action: 'deliver'; deliverable: z.infer<typeof deliverableInput> }
  | { action: 'message'; content: string }

/** Returns the action that the body asks for. Throws a refusal that says what is wrong with it. */
export function parseCallback(body: Record<string, unknown>): CallbackAction {
  switch (body.action) {
    case 'accept':
      return { action: 'accept' }
    case 'reject':
      return { action: 'reject', reason: parsed(reasonOf.reject, body).reason }
    case 'deliver':
      return { action: 'deliver', deliverable: parsed(deliverableInput, body) }
    case 'message': {
      const { content } = parsed(messageInput, { content: body.content ?? body.message })
      return { action: 'message', content }
    }
    default:
      throw invalid({ action: ['must be one of: accept, reject, deliver, message'] })
  }
}

/** Returns why a real task would refuse a callback with this body; null if it would not. */
export function callbackFault(raw: Buffer, type: string | undefined, taskId: string): string | null {
  try {
    const body = parseBody(raw, type)
    if (body.taskId !== undefined && body.taskId !== taskId) return 'its taskId names another task'
    parseCallback(body)
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const [[field, words] = []] = Object.entries(error.errors ?? {})
    return field === undefined ? error.message : `${field} ${words?.[0]}`
  }
}

/** Returns the action that a body names, known or not; `?` if it names none. For the log. */
export function actionIn(raw: Buffer, type: string | undefined): string {
  try {
    const { action } = parseBody(raw, type)
    return typeof action === 'string' ? action : '?'
  } catch {
    return '?'
  }
}

function parsed<Shape extends z.ZodType>(shape: Shape, input: unknown): z.infer<Shape> {
  const result = shape.safeParse(input)
  if (!result.success) throw invalid(z.flattenError(result.error).fieldErrors as FieldErrors)
  return result.data
}
