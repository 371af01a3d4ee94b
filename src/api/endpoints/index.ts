/** All endpoint records, by the names of their verbs. */
import { accounts, keys } from './accounts.ts'
import { admins } from './admin.ts'
import { agents } from './agents.ts'
import { budgets } from './budgets.ts'
import { categories } from './categories.ts'
import { conformance } from './conformance.ts'
import { deliveries } from './deliveries.ts'
import { notifications } from './notifications.ts'
import { recording } from './recording.ts'
import { requestors } from './requestors.ts'
import { samples } from './samples.ts'
import { secondFactor } from './second-factor.ts'
import { sessions } from './sessions.ts'
import { simulator } from './simulator.ts'
import { callbacks, tasks } from './tasks.ts'
import { wallet } from './wallet.ts'

export const endpoints = {
  ...accounts,
  ...secondFactor,
  ...sessions,
  ...agents,
  ...samples,
  ...deliveries,
  ...keys,
  ...notifications,
  ...tasks,
  ...callbacks,
  ...wallet,
  ...budgets,
  ...requestors,
  ...admins,
  ...categories,
  ...simulator,
  ...recording,
  ...conformance,
} as const

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints
