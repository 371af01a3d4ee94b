/** All scenarios, in the order in which they begin; most go on beside each other. */
import { burst } from './burst.ts'
import { buyers, manyBuyers } from './buyers.ts'
import { callbackScenarios } from './callbacks.ts'
import { connections, framing } from './connections.ts'
import { copyScenarios } from './copies.ts'
import { dayScenarios } from './days.ts'
import { disorderScenarios } from './disorder.ts'
import { endScenarios } from './ends.ts'
import { firstContact } from './first-contact.ts'
import { forged } from './forged.ts'
import { hireScenarios } from './hires.ts'
import { laterCopyScenarios } from './later-copies.ts'
import { everyEvent } from './lives.ts'
import { oddBytes } from './odd-bytes.ts'
import { proxyScenarios } from './proxied.ts'
import { restarts } from './restarts.ts'
import { robustness } from './robustness.ts'
import { lifeScenarios } from './samples.ts'
import type { Scenario } from './scenario.ts'
import { reflected, signedTimes } from './signed-times.ts'
import { testScenarios } from './tests.ts'

export const scenarios: readonly Scenario[] = [
  firstContact,
  forged,
  signedTimes,
  reflected,
  oddBytes,
  everyEvent,
  connections,
  framing,
  buyers,
  manyBuyers,
  burst,
  ...callbackScenarios,
  ...robustness,
  ...testScenarios,
  ...copyScenarios,
  ...laterCopyScenarios,
  ...lifeScenarios,
  ...endScenarios,
  ...disorderScenarios,
  ...dayScenarios,
  ...restarts,
  ...proxyScenarios,
  ...hireScenarios,
]
