/** The verbs of all endpoints, by the names of their records. */
import { accountVerbs } from './accounts/accounts.ts'
import { peopleVerbs } from './accounts/administration.ts'
import { keyVerbs } from './accounts/keys.ts'
import { notificationVerbs } from './accounts/notifications.ts'
import { passwordResetVerbs } from './accounts/password-reset.ts'
import { requestorVerbs } from './accounts/requestors.ts'
import { secondFactorVerbs } from './accounts/second-factor.ts'
import { sessionVerbs } from './accounts/sessions.ts'
import { agentVerbs } from './agents/agents.ts'
import { categoryVerbs } from './agents/categories.ts'
import { deliveryVerbs } from './agents/delivery-log.ts'
import { sampleVerbs } from './agents/samples.ts'
import { agentStateVerbs } from './agents/states.ts'
import { budgetVerbs } from './budgets/budgets.ts'
import { checkVerbs } from './checks/connection-test.ts'
import { conformanceVerbs } from './simulator/conformance.ts'
import { faultVerbs } from './simulator/faults.ts'
import { recordingVerbs } from './simulator/recording.ts'
import { standingVerbs } from './simulator/standing.ts'
import { callbackVerbs } from './tasks/callbacks.ts'
import { conversationVerbs } from './tasks/conversation.ts'
import { disputeVerbs } from './tasks/disputes.ts'
import { taskVerbs } from './tasks/tasks.ts'
import { clockVerbs } from './upkeep/clock.ts'
import { purgeVerbs } from './upkeep/purge.ts'
import { secretKeyVerbs } from './upkeep/secret-key.ts'
import { usageVerbs } from './upkeep/usage.ts'
import type { Verbs } from './verb.ts'
import { paymentVerbs, walletVerbs } from './wallet/wallet.ts'

export const verbs: Verbs = {
  ...accountVerbs,
  ...agentVerbs,
  ...agentStateVerbs,
  ...budgetVerbs,
  ...callbackVerbs,
  ...categoryVerbs,
  ...checkVerbs,
  ...clockVerbs,
  ...conformanceVerbs,
  ...faultVerbs,
  ...conversationVerbs,
  ...deliveryVerbs,
  ...disputeVerbs,
  ...keyVerbs,
  ...notificationVerbs,
  ...passwordResetVerbs,
  ...paymentVerbs,
  ...peopleVerbs,
  ...purgeVerbs,
  ...secretKeyVerbs,
  ...recordingVerbs,
  ...requestorVerbs,
  ...sampleVerbs,
  ...secondFactorVerbs,
  ...sessionVerbs,
  ...standingVerbs,
  ...taskVerbs,
  ...usageVerbs,
  ...walletVerbs,
}
