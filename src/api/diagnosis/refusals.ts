/** What helps if a request is refused for another reason than its signature. */
import type { FieldErrors, Refusal } from '../failures.ts'

type Refused = Pick<Refusal, 'code' | 'message' | 'errors'>

/** Returns the message and what helps; undefined if nothing more is known. `isAgents`: an agent answers about a task. */
export function refusalHint({ code, message, errors }: Refused, isAgents: boolean): string | undefined {
  if (code === 'validation_failed' && errors) return `${message}: ${fieldsIn(errors)}.`
  if (code === 'wrong_content_type' && isAgents) return `${message}: add the header Content-Type: application/json.`
  if (code === 'no_such_path')
    return `${message}. Callbacks go to data.callbackUrl of the webhook, as it stands; all paths are listed at /docs.`
  if (code === 'task_out_of_turn' && isAgents)
    return `${message}. An agent accepts, then delivers, once for each X-Service-Delivery-Id.`
  return undefined
}

const fieldsIn = (errors: FieldErrors) =>
  Object.entries(errors)
    .map(([field, [words]]) => `${field} ${words}`)
    .join(', ')
