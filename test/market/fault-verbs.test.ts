// engines: embedded; process: shared
/** Faults that are armed over HTTP. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { faultVerbs } from '../../src/market/simulator/faults.ts'
import { FaultBoard } from '../../src/sim/fault-board.ts'

test('a hundred faults may wait, one more is refused until some are taken back', async () => {
  const ctx = {
    faults: new FaultBoard(
      () => {},
      () => 'token',
      () => 0,
    ),
  } as never
  const arm = () => faultVerbs.armFault(ctx, { params: {}, query: {}, body: { name: 'duplicate' } } as never)
  for (let n = 1; n <= 100; n++) assert.is((await arm()).id, `fault_${n}`)
  const refusal = await arm().catch((error: Error) => error.message)
  assert.match(refusal as string, 'As many faults wait as may')
  assert.is((await faultVerbs.clearFaults(ctx, {} as never)).items.length, 100)
  assert.is((await arm()).id, 'fault_101')
})

test.run()
