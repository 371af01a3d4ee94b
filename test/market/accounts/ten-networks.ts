/** What a stranger with ten addresses does to an owner who is on a journey, at one instance or several. Source: A-193. */
import * as assert from 'uvu/assert'
import { guessing } from '../../../src/api/limits.ts'
import { HttpUser } from '../../../src/sim/http-user.ts'
import type { TestMarketplace } from '../../support/marketplace.ts'

const MINUTE = 60_000
const MINUTES = 12
const OWNER_COMES_EVERY = 3

/** Plays it. Each network guesses five times a minute. */
export async function tenNetworksGuess(
  { world, join, pass }: Pick<TestMarketplace, 'world' | 'join' | 'pass'>,
  urls: readonly string[],
): Promise<void> {
  const { email, password } = await join('ann-on-a-journey')
  let turn = 0
  const signIn = async (address: string, tried: string) => {
    const user = new HttpUser(urls[turn++ % urls.length]!)
    const from = { 'x-forwarded-for': address }
    return (await user.ask('POST', '/api/auth/login', { email, password: tried }, 'nobody', from)).status
  }
  let reached = 0
  for (let minute = 0; minute < MINUTES; minute++) {
    const statuses = await Promise.all(
      Array.from({ length: 50 }, (_, n) => signIn(`198.51.${n % 10}.${minute}`, `guess ${minute}.${n}`)),
    )
    reached += statuses.filter(status => status === 401).length
    if (minute % OWNER_COMES_EVERY === 0)
      assert.is(await signIn(`203.0.${minute}.7`, password), 200, `the owner, in minute ${minute}`)
    world.tick(MINUTE)
    await pass(0)
  }
  const { strangers } = guessing.rules
  const doublings = Math.log2(strangers.capMs / strangers.baseMs)
  const most = 10 * guessing.newcomerTurns + strangers.free + doublings + (MINUTES * MINUTE) / strangers.capMs
  assert.ok(reached <= most + 1, `${reached} guesses in ${MINUTES} minutes`)
}
