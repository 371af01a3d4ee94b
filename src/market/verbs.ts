/** Every record of the interface and the verb that serves it. */
import { accountVerbs } from './accounts.ts'
import { agentStateVerbs } from './agent-states.ts'
import { agentVerbs } from './agents.ts'
import { budgetVerbs } from './budgets.ts'
import { callbackVerbs } from './callback.ts'
import { categoryVerbs } from './categories.ts'
import { checkVerbs } from './check.ts'
import { clockVerbs } from './clock.ts'
import { conversationVerbs } from './conversation.ts'
import { deliveryVerbs } from './deliveries.ts'
import { disputeVerbs } from './disputes.ts'
import { keyVerbs } from './keys.ts'
import { notificationVerbs } from './notifications.ts'
import { passwordResetVerbs } from './password-reset.ts'
import { paymentVerbs } from './payments.ts'
import { peopleVerbs } from './people.ts'
import { requestorVerbs } from './requestors.ts'
import { sampleVerbs } from './samples.ts'
import { secondFactorVerbs } from './second-factor.ts'
import { sessionVerbs } from './sessions.ts'
import { taskVerbs } from './tasks.ts'
import type { Verbs } from './verb.ts'
import { walletVerbs } from './wallet.ts'

export const verbs: Verbs = {
  ...accountVerbs,
  ...agentVerbs,
  ...agentStateVerbs,
  ...budgetVerbs,
  ...callbackVerbs,
  ...categoryVerbs,
  ...checkVerbs,
  ...clockVerbs,
  ...conversationVerbs,
  ...deliveryVerbs,
  ...disputeVerbs,
  ...keyVerbs,
  ...notificationVerbs,
  ...passwordResetVerbs,
  ...paymentVerbs,
  ...peopleVerbs,
  ...requestorVerbs,
  ...sampleVerbs,
  ...secondFactorVerbs,
  ...sessionVerbs,
  ...taskVerbs,
  ...walletVerbs,
}
