/** Expecting a verb to refuse. */
import * as assert from 'uvu/assert'
import { type FailureName, Refusal } from '../../src/api/failures.ts'

/** Fails unless `promise` rejects with this refusal; anything else that is thrown is shown whole. */
export async function refused(promise: Promise<unknown>, code: FailureName): Promise<Refusal> {
  const error = await promise.then(
    () => assert.unreachable(`must be refused: ${code}`),
    error => error,
  )
  assert.instance(error, Refusal, String(error?.stack))
  assert.is(error.code, code)
  return error
}
