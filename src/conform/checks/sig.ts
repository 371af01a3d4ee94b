/** Who speaks: the agent believes the marketplace alone. */
import { broken, type Check, holds, inconclusive, type Level } from '../check.ts'
import type { forgeriesOf } from '../scenarios/forged.ts'
import { isAck, refusedAndQuiet, toldBack } from './evidence.ts'

const scenario = 'forged'

interface Words {
  title: string
  why: string
  fix: string
  quote?: string
  source?: string
}

const SIGNED = {
  source: 'I-signature',
  quote: 'HMAC-SHA256, keyed with the webhook secret, over the timestamp header, a dot, and the body byte for byte',
}
const IN_TIME = { source: 'I-timestamp', quote: 'More than five minutes off, the request is refused.' }

/** A check that one kind of forged webhook is refused, and nothing comes of it. */
const refuses = (id: keyof typeof forgeriesOf & string, law: Check['law'], words: Words): Check => ({
  id,
  level: 'must' as Level,
  law,
  scenario,
  after: ['sig.valid'],
  title: words.title,
  why: words.why,
  fix: words.fix,
  judge: history => refusedAndQuiet(history, id),
})

export const sig: readonly Check[] = [
  {
    id: 'sig.valid',
    title: 'accepts a genuine webhook',
    level: 'must',
    law: SIGNED,
    why: 'An agent that refuses the marketplace hears of no task.',
    fix: 'Compute the digest over the raw bytes of the body, with the whole whsec_… as key. `marketplace verify` shows what differs.',
    scenario,
    judge(history) {
      const [webhook] = history.webhooks('sig.valid')
      if (!webhook) return inconclusive('no webhook was sent')
      return isAck(webhook) ? holds : broken(`did not accept it: it ${toldBack(webhook)}`, webhook)
    },
  },
  refuses('sig.missing-signature', SIGNED, {
    title: 'refuses a webhook without a signature',
    why: 'Whoever knows the address could make the agent work.',
    fix: 'Refuse a request whose signature header is missing, before anything else.',
  }),
  refuses('sig.stale-301s', IN_TIME, {
    title: 'refuses a webhook that was signed 6 minutes ago',
    why: 'Whoever has seen a webhook once could send it again for ever.',
    fix: 'Refuse a timestamp that is more than 300,000 ms away from the clock.',
  }),
]
