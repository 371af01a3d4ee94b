// engines: embedded; process: shared
/** A marketplace that takes nothing for a while: who looks at an agent from outside waits, says so, and an interrupt ends that. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { UnreachableError } from '../../src/client/transport.ts'
import { MarketplaceError } from '../../src/client/typed-client.ts'
import { failureInWords, Patient, type Wait } from '../../src/conform/listed-agent/retries.ts'

const limited = (seconds: number) => {
  const headers = new Headers({ 'retry-after': `${seconds}` })
  return new MarketplaceError({ status: 429, headers, error: `Too many requests; try again in ${seconds} s` } as never)
}
const unreachable = () => new UnreachableError('http://127.0.0.1:1', new Error('away'))

/** Asks what fails with these, one after another, and then succeeds. */
function failing(...errors: readonly Error[]) {
  const left = [...errors]
  return async () => {
    const error = left.shift()
    if (error) throw error
    return 'done'
  }
}

test('a limit of a minute is told with its end, once for all who wait for it, and an interrupt ends the wait', async () => {
  const told: Wait[] = []
  const ended = new AbortController()
  const patient = new Patient(ended.signal, wait => told.push(wait))
  const both = [patient.ask(failing(limited(60))), patient.ask(failing(limited(60)))]
  const outcomes = Promise.allSettled(both)
  await new Promise(resolve => setImmediate(resolve))
  assert.equal(told, [{ ...told[0]!, ms: 60_000, isEnding: false }])
  assert.is(told[0]!.why, 'The marketplace takes no more requests from here for now')
  ended.abort()
  assert.equal(
    (await outcomes).map(one => (one.status === 'rejected' ? one.reason.message : one.value)),
    ['the run was interrupted', 'the run was interrupted'],
  )
})

test('what may have had its effect is asked again at once after an interrupt; what is open then is waited for', async () => {
  const told: Wait[] = []
  const ended = new AbortController()
  const patient = new Patient(ended.signal, wait => told.push(wait))
  const asked = patient.ask(failing(unreachable()))
  ended.abort()
  assert.is(await asked, 'done')
  assert.is(await patient.ask(failing(limited(0))), 'done')
  patient.tell(30_000, limited(30))
  assert.equal(
    told.map(({ ms, isEnding }) => [ms, isEnding]),
    [[30_000, true]],
  )
})

test('a limit of an hour is not waited for: the reason says for how long, and what helps', async () => {
  const told: Wait[] = []
  const patient = new Patient(new AbortController().signal, wait => told.push(wait))
  const error = await patient.ask(failing(limited(3_412))).catch((thrown: Error) => thrown)
  assert.match(failureInWords(error as Error), /from here for 57 min: try it again then, or leave out --spend/)
  assert.equal(told, [])
  assert.is(failureInWords(limited(20)), 'Too many requests; try again in 20 s')
})

test.run()
