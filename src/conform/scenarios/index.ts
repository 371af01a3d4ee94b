/** All scenarios, in the order in which they begin; most run at the same time. */

import { buyers, manyBuyers } from './buyers.ts'
import { callbackScenarios } from './callbacks.ts'
import { testScenarios } from './connection-tests.ts'
import { connections, framing, proxyScenarios } from './connections.ts'
import { copyScenarios } from './copies.ts'
import { disorderScenarios } from './event-order.ts'
import { everyEvent } from './every-event.ts'
import { firstContact } from './first-contact.ts'
import { forged } from './forged-webhooks.ts'
import { hireScenarios } from './hiring.ts'
import { laterCopyScenarios } from './later-copies.ts'
import { dayScenarios } from './moved-clock.ts'
import { oddBytes } from './odd-bytes.ts'
import { restarts } from './restarts.ts'
import { robustness } from './robustness.ts'
import type { Scenario } from './scenario.ts'
import { reflected, signedTimes } from './signed-times.ts'
import { endScenarios } from './task-ends.ts'
import { burst, lifeScenarios } from './task-samples.ts'

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
