/** Who is signed in. All tabs share the cookie, so each hears when another signs in or out. */
import type { CallReply } from '../client/client.ts'
import { api, refused } from './api.ts'
import { go, place } from './router.ts'
import { Store } from './store.ts'

export type Me = CallReply<'me'>['user']
/** Whom `dev` lets one be. */
export const sides = ['builder', 'buyer', 'admin'] as const
export type Side = (typeof sides)[number]

/** In a simulator. The server says so in the page. */
const { dataset } = document.documentElement
export const isDev = dataset.mode === 'dev'
/** What an operator calls it, and the address of his logo. */
export const brand = { name: dataset.name ?? 'marketplace', logo: dataset.logo }

/** undefined: not asked yet; null: nobody. */
export const me = new Store<Me | null | undefined>(undefined)

/** Its three accounts are told apart by their addresses: its buyer may build, too. */
export const sideOf = ({ email }: Me): Side | undefined => sides.find(side => email.startsWith(`${side}@`))

const tabs = new BroadcastChannel('session')
tabs.onmessage = () => void learn()
// It may have been sent before somebody else was signed in, by the cookie of that time: who is signed in now is asked.
refused.notSignedIn = () => {
  if (me.value && !isLearning) void learn()
}

/** What was asked last is what counts. */
let turn = 0
let isLearning = false

/** Asks the marketplace who is signed in. */
export async function learn(): Promise<void> {
  const own = ++turn
  isLearning = true
  const answer = await api.request<{ user: Me }>('GET', '/api/auth/me', { by: 'session' }).finally(() => {
    isLearning = false
  })
  if (own !== turn) return
  if (answer.success) become(answer.data!.user)
  else if (answer.status === 401 || answer.status === 403) become(null)
}

/** Takes it that this account is signed in now. */
export function become(user: Me | null): void {
  turn++
  const before = me.value
  if (before?.id === user?.id && before && user) return
  me.set(user)
  if (user === null && !isSignIn())
    go(`/sign-in?to=${encodeURIComponent(place.value.path + location.search + location.hash)}`)
}

/** In a simulator: signs in as this side of it. */
export async function beSide(as: Side): Promise<void> {
  const { user } = await api.signInAs({ as })
  become(user)
  tellTabs()
}

/** Tells the other tabs, after signing in or out here. */
export const tellTabs = () => tabs.postMessage(null)

export async function signOut(): Promise<void> {
  await api.logout().catch(() => {})
  become(null)
  tellTabs()
}

export const isSignIn = () => place.value.path === '/sign-in'
