/** Limits that all three servers share, run into from all of them at once while they are killed: exact to the cent. */
import { setTimeout as wait } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { depositLimits, rates } from '../../src/api/limits.ts'
import { Caller, Cut } from './caller.ts'
import { type Fleet, withFleet } from './fleet.ts'
import { newBuyer, PASSWORD, settle } from './scenario.ts'

const PRICE = 300
const HIRES = 150
const FIT = 100
const PART = 15_000
/** Between one's requests, so that all kills come amid them. */
const PAUSE_MS = 100

interface Count {
  done: number
  refused: number
  cut: number
}

/** Hires against one budget and deposits to one account, by many at once, with `kills` amid them. */
export async function capsUnderKills(folder: string, kills: number): Promise<{ hires: Count; deposits: Count }> {
  return withFleet(folder, {}, async (fleet, agent) => {
    const caller = () => new Caller(fleet.url)
    const { agentId, buyers, admin } = await settle(agent, 1, 1, await fleet.furnish(), caller)
    const spender = Object.assign(caller(), { credential: buyers[0]!.credential })
    const saver = await join(fleet, admin)
    const { budget, drafts } = await authorize(spender, agentId)
    const hires = { done: 0, refused: 0, cut: 0 }
    const deposits = { done: 0, refused: 0, cut: 0 }
    const hire = async (id: string) => count(hires, await answerTo(spender, `/api/tasks/${id}/submit`))
    const deposit = async () => count(deposits, await answerTo(saver, '/api/wallet/deposit', { amount: PART }))
    const pause = () => wait(Math.random() * PAUSE_MS)
    const left = [...drafts]
    const hireAll = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) await Promise.all([hire(id), pause()])
    }
    const depositAll = async () => {
      while (deposits.refused < 4) await Promise.all([deposit(), pause()])
    }
    const work = Promise.all([hireAll, hireAll, hireAll, hireAll, depositAll, depositAll].map(one => one()))
    for (let kill = 0; kill < kills; kill++) {
      await wait(50)
      await fleet.kill(kill % fleet.urls.length)
    }
    await work
    // What was cut off may not have happened; now all has been asked for that the caps let through.
    for (const id of drafts) await answerTo(spender, `/api/tasks/${id}/submit`)
    const { spentToday } = await spender.read(`/api/budget-authorizations/${budget}`)
    assert.is(spentToday, FIT * PRICE)
    assert.ok(hires.done <= FIT, `${hires.done} hires were acknowledged`)
    const { wallet } = await spender.read('/api/wallet')
    assert.is(wallet.heldBalance, spentToday)
    const fit = Math.floor(depositLimits.new_verified.perDay / PART)
    assert.is((await saver.read('/api/wallet')).wallet.balance, fit * PART)
    assert.ok(deposits.done <= fit && deposits.done + deposits.cut >= fit, JSON.stringify(deposits))
    for (const one of [spender, saver]) one.close()
    await fleet.end()
    return { hires, deposits }
  })
}

/** More than a window lets through, at every server, before and after one was killed. Returns how many passed. */
export async function rateUnderKill(folder: string): Promise<number> {
  return withFleet(folder, { rateLimits: 'strict' }, async fleet => {
    const ask = async (index: number) => {
      const { status } = await fetch(`${fleet.urls[index]}/api/agents`)
      assert.ok(status === 200 || status === 429, `${status}`)
      return status
    }
    const askAll = (each: number) => Promise.all(Array.from({ length: 3 * each }, (_, i) => ask(i % 3)))
    const before = await askAll(rates.search.limit / 6)
    await fleet.kill(0)
    const after = await askAll(rates.search.limit / 2)
    await fleet.end()
    return [...before, ...after].filter(status => status === 200).length
  })
}

async function join(fleet: Fleet, admin: Record<string, string>): Promise<Caller> {
  const joined = new Caller(fleet.url)
  const body = { email: newBuyer().email, password: PASSWORD, name: 'A Saver' }
  const { user } = await joined.call('POST', '/api/auth/register', body)
  const root = Object.assign(new Caller(fleet.url), { credential: admin })
  await root.call('PUT', `/api/admin/users/${user.id}`, { identityVerified: true })
  root.close()
  return joined
}

/** An agent of one's own, which may spend `FIT` prices and something that is no whole one; and drafts to spend it on. */
async function authorize(owner: Caller, agentId: string): Promise<{ budget: string; drafts: string[] }> {
  await owner.call('PUT', '/api/auth/me', { isBuilder: true })
  const own = await owner.call('POST', '/api/my/agents', {
    name: 'Spender',
    tagline: 'Spends what it is given',
    description: 'An agent of the crash tests, which hires another one until the money it may spend is gone.',
    pricingModel: 'fixed',
    basePrice: PRICE,
    categoryIds: ['cat_code'],
  })
  const cap = FIT * PRICE + PRICE - 1
  const caps = { maxPerTask: PRICE, maxDaily: cap, maxMonthly: cap }
  const { id: budget } = await owner.call('POST', '/api/budget-authorizations', { agentId: own.id, ...caps })
  const drafts: string[] = []
  const task = { agentId, title: 'A hire', description: 'What an agent would like to have done.', agreedPrice: PRICE }
  while (drafts.length < HIRES)
    drafts.push((await owner.call('POST', '/api/tasks', { ...task, budgetAuthorizationId: budget })).id)
  return { budget, drafts }
}

/** null if the answer was cut off. */
async function answerTo(caller: Caller, path: string, body?: object): Promise<number | null> {
  try {
    return (await caller.send('POST', { path, body })).status
  } catch (error) {
    if (error instanceof Cut) return null
    throw error
  }
}

function count(counts: Count, status: number | null) {
  if (status === null) counts.cut++
  else if (status < 300) counts.done++
  else if (status === 400 || status === 409) counts.refused++
  else throw new Error(`an answer of ${status}`)
}
