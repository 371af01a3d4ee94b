// engines: embedded; process: shared
/** A server that is to stop says so at `/readyz` while it still takes connections, so that a balancer sees it in time. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openTestMarketplace } from '../support/marketplace.ts'
import { inTime, until } from '../support/patience.ts'

const ask = async (url: string) => {
  const answer = await fetch(url, { headers: { connection: 'close' } })
  return [answer.status, await answer.text()]
}

test('for the time of its setting it takes connections and is not ready; then it takes none', async () => {
  const { url, world, close } = await openTestMarketplace({ lameDuckMs: 5_000 })
  assert.equal(await ask(`${url}/readyz`), [200, 'ok'])
  const closed = close()
  assert.equal(await ask(`${url}/readyz`), [503, 'closing'])
  assert.is((await ask(`${url}/api/agents`))[0], 200)
  world.tick(4_999)
  assert.is((await ask(`${url}/api/agents`))[0], 200)
  world.tick(1)
  await inTime('the end', closed)
  await until('no server', () =>
    ask(url).then(
      () => false,
      () => true,
    ),
  )
})

test('a marketplace that is closed at once has no such time', async () => {
  const { close } = await openTestMarketplace({ lameDuckMs: 5_000 })
  await inTime('the end', close(0))
})

test.run()
