/** Webhooks that the agent must not believe. Each is about a task of its own that waits for the agent, and differs in one thing from the genuine one. */
import { webhookHeaders } from '../../api/webhook-request.ts'
import { type Forgery, forgeries } from '../../sim/webhooks/forgeries.ts'
import { type OutgoingWebhook, signedNow } from '../marketplaces/webhook-faults.ts'
import { byHand } from './hand-sent-webhooks.ts'
import type { Scenario, Stage } from './scenario.ts'

/** Names of forgeries, by the checks that send them. */
export const forgeriesOf = {
  'sig.missing-signature': ['no-signature'],
  'sig.missing-timestamp': ['no-timestamp'],
  'sig.missing-all': ['no-headers'],
  'sig.empty': ['empty-headers'],
  'sig.wrong-secret': ['wrong-secret', 'no-key', 'other-algorithm'],
  'sig.empty-secret': ['empty-secret', 'undefined-secret', 'null-secret'],
  'sig.other-agent': ['other-agent'],
  'sig.one-bit': ['other-digit'],
  'sig.first-half': ['half-right'],
  'sig.truncated': ['short'],
  'sig.trailing-garbage': ['longer', 'letters-behind'],
  'sig.not-hex': ['no-digest', 'three-digits', 'long'],
  'sig.body-one-byte': ['changed-byte'],
  'sig.body-appended': ['added-newline'],
  'sig.body-other-spelling': ['other-spelling'],
  'sig.time-swapped': ['moved-timestamp'],
  'sig.time-not-signed': ['body-alone'],
  'sig.no-dot': ['no-dot'],
  'sig.stale-301s': ['old-timestamp'],
  'sig.stale-day': ['day-old'],
  'sig.future-301s': ['future-timestamp'],
  'sig.seconds': ['seconds'],
  'sig.not-a-number': ['no-number', 'letters-time', 'empty-time'],
} as const satisfies Readonly<Record<string, readonly string[]>>

type Forged = Pick<Forgery, 'name' | 'forge'>

/** So many go before the agent is asked again whether it accepts a genuine one. */
const IN_A_ROW = 8

export const forged: Scenario = {
  name: 'forged',
  lane: 'real',
  async run(stage) {
    const known: readonly Forged[] = [...forgeries, ofAnotherAgent(stage.lane.neighbourSecret)]
    const wanted = Object.entries(forgeriesOf).flatMap(([id, names]) =>
      names.map(name => ({
        label: names.length === 1 ? id : `${id}/${name}`,
        forgery: known.find(one => one.name === name)!,
      })),
    )
    // An agent that refuses everything proves nothing, and neither does one that is down since some forgery. So genuine
    // webhooks come before and after, in the same state of like tasks.
    await genuine(stage, 'sig.valid')
    for (let at = 0; at < wanted.length; at += IN_A_ROW) {
      const row = wanted.slice(at, at + IN_A_ROW)
      const sent = row.map(({ label, forgery }) => refusable(stage, label, forgery))
      await Promise.all(at === 0 ? [...sent, timesTwice(stage)] : sent)
      await genuine(stage, 'sig.valid/again')
    }
  },
}

async function genuine(stage: Stage, label: string): Promise<void> {
  await stage.sent(await stage.task(label, { decisionIsAll: true }))
}

async function refusable(stage: Stage, label: string, { name: change, forge }: Forged): Promise<void> {
  const { webhook } = await stage.taken(label)
  await byHand(stage, label, webhook, { change, forge, ...patient(stage) })
}

/** Who ignores what is forged is right too, and is not waited for as long as others. */
const patient = (stage: Stage) => ({ timeoutMs: stage.patience.limit('answer') })

/** An old webhook, to which somebody has added the time of now, before or behind its own. */
async function timesTwice(stage: Stage): Promise<void> {
  const old = forgeries.find(({ name }) => name === 'old-timestamp')!
  const one = async (place: string) => {
    const label = `sig.doubled-header/${place}`
    const { webhook } = await stage.taken(label)
    const headersOf = ({ headers }: OutgoingWebhook) => {
      const fresh = Object.entries(signedNow(webhook).headers).filter(([name]) => /timestamp$/i.test(name))
      const stale = Object.entries(headers)
      return place === 'before' ? [...fresh, ...stale] : [...stale, ...fresh]
    }
    const change = `two times, the fresh one ${place}`
    await byHand(stage, label, webhook, { change, forge: old.forge, headersOf, ...patient(stage) })
  }
  await Promise.all(['before', 'behind'].map(one))
}

const ofAnotherAgent = (secret: string): Forged => ({
  name: 'other-agent',
  forge: webhook => ({ body: webhook.body, headers: webhookHeaders(secret, webhook) }),
})
