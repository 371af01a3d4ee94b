/** Waiting for what happens only as the real time of a marketplace goes by. */
import { dispatch } from '../../src/api/dispatch.ts'
import type { TestMarketplace } from './marketplace.ts'
import { until } from './patience.ts'

/** So that no lease ends meanwhile, however slow the machine is. */
const MOST_TICKS = dispatch.leaseMs / 1_000 - 10

/** Waits until something holds, while seconds go by. */
export function ticking({ world }: TestMarketplace, what: string, holds: () => unknown): Promise<void> {
  let ticks = 0
  const look = async () => {
    if (await holds()) return true
    if (ticks++ < MOST_TICKS) world.tick(1_000)
    return false
  }
  return until(what, look)
}
