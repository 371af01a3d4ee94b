/** What a webhook looks like that somebody else has sent: each is refused, and nothing comes of it. */
import type { Check } from '../judging/check.ts'
import type { forgeriesOf } from '../scenarios/forged-webhooks.ts'
import { refusedAndQuiet } from './evidence.ts'
import { must } from './owed.ts'

type Law = Check['law']

const IN_TIME: Law = { source: 'I-timestamp', quote: 'More than five minutes off, the request is refused.' }
const MILLISECONDS: Law = {
  source: 'I-timestamp',
  quote:
    '`X-Service-Timestamp` is Unix time in milliseconds, thirteen digits. More than five minutes off, the request is refused.',
}

type Id = keyof typeof forgeriesOf

const refuses = (id: Id, title: string, law: Law, why: string, fix: string): Check => ({
  ...{ id, title, level: 'must', law, why, fix },
  scenario: 'forged',
  after: [...(causes[id] ?? ['sig.wrong-secret'])],
  judge: history => refusedAndQuiet(history, id),
})

/** Who believes anybody shows no more than that, and who never looks at the time, or at the bytes as they came, shows that in several ways. */
const causes: { readonly [id in Id]?: readonly string[] } = {
  'sig.wrong-secret': ['sig.valid'],
  'sig.one-bit': ['sig.first-half'],
  'sig.body-appended': ['sig.body-other-spelling'],
  'sig.stale-301s': ['sig.stale-day'],
  'sig.future-301s': ['sig.stale-301s'],
  'sig.seconds': ['sig.stale-day'],
  'sig.not-a-number': ['sig.stale-day'],
}

const ANYBODY = 'Whoever learns the address can give the agent orders, and it works for nothing.'
const GUESSING = 'Every digit that is not compared makes a signature easier to guess.'
const COMPARE = 'Compute the whole digest, and compare all 64 digits of both in constant time.'
const RAW = 'Compute the digest over the bytes as they arrived, before anything parses them.'

const parts: readonly Check[] = [
  refuses(
    'sig.missing-signature',
    'refuses a webhook without a signature',
    must.refuse,
    ANYBODY,
    'Refuse a request whose signature header is missing, before anything else.',
  ),
  refuses(
    'sig.missing-timestamp',
    'refuses a webhook without a timestamp',
    must.refuse,
    'Without a timestamp, a webhook that somebody has copied is valid for ever.',
    'Refuse a request whose timestamp header is missing. Do not skip the check of its age.',
  ),
  refuses(
    'sig.missing-all',
    'refuses a request with neither signature nor timestamp',
    must.refuse,
    ANYBODY,
    'Let no request through that is not signed, whatever it looks like.',
  ),
  refuses(
    'sig.empty',
    'refuses a webhook whose signature and timestamp are empty',
    must.refuse,
    ANYBODY,
    'Treat an empty header as a missing one: refuse it.',
  ),
]

const secrets: readonly Check[] = [
  refuses(
    'sig.wrong-secret',
    'refuses a webhook that is signed with another secret, or with none',
    must.refuse,
    ANYBODY,
    'Compare the signature with the one that you compute, and stop with 401 where they differ. Logging the difference is not enough.',
  ),
  refuses(
    'sig.empty-secret',
    'refuses a webhook that is signed with an empty secret, or with the word “undefined” or “null”',
    must.refuse,
    'An agent whose setting is missing would believe anybody who guesses so.',
    'Do not start without the secret: check that MARKETPLACE_WEBHOOK_SECRET is there, and have no default for it.',
  ),
  refuses(
    'sig.other-agent',
    'refuses a webhook that is signed with the secret of another agent',
    must.refuse,
    'Whoever builds another agent knows its secret, and could give orders to this one.',
    'Verify with the secret of this agent alone. If one program serves several agents, give each its own address.',
  ),
]

const digests: readonly Check[] = [
  refuses('sig.one-bit', 'refuses a signature whose last digit differs', must.refuse, GUESSING, COMPARE),
  refuses(
    'sig.first-half',
    'refuses a signature of which only the first half is right',
    must.refuse,
    GUESSING,
    COMPARE,
  ),
  refuses('sig.truncated', 'refuses a signature that was cut short', must.refuse, GUESSING, COMPARE),
  refuses(
    'sig.trailing-garbage',
    'refuses a signature with something behind it',
    must.refuse,
    'What this program reads loosely, the next one reads differently, and a copy looks like something new.',
    'Take 64 lower-case hex digits and nothing else. Some hex decoders stop silently at the first character that is none.',
  ),
  refuses(
    'sig.not-hex',
    'refuses a signature that is no hex digest: letters, three digits, 4,000 digits',
    must.refuse,
    'What can’t be decoded often decodes to nothing, and nothing equals the beginning of everything.',
    'Take 64 lower-case hex digits and nothing else, and compare lengths before you compare bytes.',
  ),
]

const bodies: readonly Check[] = [
  refuses(
    'sig.body-one-byte',
    'refuses a webhook of which one byte was changed after it was signed',
    must.refuse,
    'Whoever can change the request on its way could change prices and texts.',
    RAW,
  ),
  refuses(
    'sig.body-appended',
    'refuses a webhook to which a newline was added after it was signed',
    must.refuse,
    'An agent that trims or parses first has not verified what was sent.',
    RAW,
  ),
  refuses(
    'sig.body-other-spelling',
    'refuses a webhook whose JSON was rewritten after it was signed',
    must.refuse,
    'An agent that signs what it has parsed refuses genuine webhooks as soon as a marketplace formats its JSON differently.',
    RAW,
  ),
]

const times: readonly Check[] = [
  refuses(
    'sig.time-swapped',
    'refuses a webhook whose timestamp was changed after it was signed',
    must.refuse,
    'A time that is not signed can be set to now by anybody who has copied a webhook.',
    'Compute the digest over the timestamp header as it stands, a dot, and the body.',
  ),
  refuses(
    'sig.time-not-signed',
    'refuses a signature over the body alone',
    must.refuse,
    'A time that is not signed can be set to now by anybody who has copied a webhook.',
    'Accept one form of signature: over timestamp, dot and body.',
  ),
  refuses(
    'sig.no-dot',
    'refuses a signature without the dot between timestamp and body',
    must.refuse,
    'Without the dot, digits can be moved from the body to the time and back.',
    'Accept one form of signature: over timestamp, dot and body.',
  ),
  refuses(
    'sig.stale-301s',
    'refuses a webhook that was signed more than five minutes ago',
    IN_TIME,
    'Whoever has seen a webhook once could send it again for ever.',
    'Refuse a timestamp that is more than 300,000 ms away from your clock.',
  ),
  refuses(
    'sig.stale-day',
    'refuses a webhook that was signed a day ago',
    IN_TIME,
    'Whoever has seen a webhook once could send it again for ever.',
    'Compare the whole timestamp with your clock, in milliseconds since 1970, and not the time of day.',
  ),
  refuses(
    'sig.future-301s',
    'refuses a webhook that is signed more than five minutes ahead',
    IN_TIME,
    'A webhook from the future stays valid until then, however often somebody sends it.',
    'Compare the absolute difference between the timestamp and your clock.',
  ),
  refuses(
    'sig.seconds',
    'refuses a timestamp in seconds',
    MILLISECONDS,
    'An agent that accepts both units reads two times from one webhook, and one of them may be fresh.',
    'Read the timestamp as milliseconds, and refuse what does not have 13 digits.',
  ),
  {
    ...refuses(
      'sig.not-a-number',
      'refuses a timestamp that is not a number, although it is signed',
      { source: 'I-timestamp', quote: '`X-Service-Timestamp` is Unix time in milliseconds, thirteen digits.' },
      'Nobody without the secret can sign such a time. But NaN is never greater than a limit: who signs one by mistake has made a webhook that is valid for ever.',
      'Refuse a timestamp that does not have 13 digits, before you calculate with it.',
    ),
    level: 'should',
  },
]

export const forged: readonly Check[] = [...parts, ...secrets, ...digests, ...bodies, ...times]
