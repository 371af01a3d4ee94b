/** What helps if a check of the connection test fails: for each check, and for each way in which it fails. */
import { CUT_OFF_ADVICE, responseAdvice } from '../../api/diagnosis/responses.ts'
import type { AgentRecord, OwnAgentRecord, TestReport } from '../../api/records.ts'
import { NOBODY_THERE } from '../../sim/agents/agents.ts'
import { agentAt } from './dev-folder.ts'
import { nextSteps } from './next-steps.ts'

type Check = Pick<TestReport['checks'][number], 'name' | 'message'>
type Agent = Pick<AgentRecord | OwnAgentRecord, 'slug'> & { webhookUrl?: string | null }

/** `flags`: those by which the marketplace was found, for the commands of the advice. */
export function adviceOn({ name, message }: Check, agent: Agent, flags = ''): string {
  const { slug } = agent
  const save = nextSteps.saveWebhook(slug, flags)
  const advice: Record<Check['name'], () => string> = {
    webhook_url: () => `Save one: ${save}`,
    https: () =>
      `Webhooks go to https:// only. Save such a URL: ${save} . For a plain http agent: ${nextSteps.forward()}`,
    webhook_secret: () => `Make one: ${nextSteps.rotateSecret(slug, flags)}`,
    endpoint: () => endpointAdvice(message, agent),
    callback: () => callbackAdvice(message, slug, flags),
  }
  return advice[name]()
}

/** The refusal of what takes a test that has passed leads to that test. */
export const testFirst = (message: string, agent: string, flags: string) =>
  message.includes('connection test') ? `Next: ${nextSteps.testConnection(agent, flags)}` : undefined

/** What comes after a test that has passed; empty if nothing has to. */
export function afterPass({ slug, status }: Pick<AgentRecord, 'slug' | 'status'>, flags = ''): string {
  if (status === 'draft') return ` Next: ${nextSteps.publishAgent(slug, flags)}`
  return status === 'inactive' ? ` Next: ${nextSteps.reactivateAgent(slug, flags)}` : ''
}

/** Whatever is sent to it alone would find nobody either. */
const AWAY = /Nothing listens|no way to/

/** By the words of the report, the first that fits. Another marketplace may have other words: then the last one. */
const endpointFaults = (): readonly (readonly [words: RegExp, advice: string])[] => [
  [
    NOBODY_THERE,
    `Nobody is to answer there: dev has this agent to show what buyers see of one that is down. Yours: ${nextSteps.forward()}`,
  ],
  [AWAY, 'Start the agent, and look at the port in its URL.'],
  [
    /authority that is not trusted/,
    `Start the marketplace with NODE_EXTRA_CA_CERTS=cert.pem, or let dev do the https: ${nextSteps.forward()}`,
  ],
  [/certificate/i, 'Make the certificate anew, for the name that the URL has.'],
  [/TLS|before TLS/, `Does the agent speak https on this port? For a plain http agent: ${nextSteps.forward()}`],
  [
    /has no address|no public address|could not be looked up/,
    'Look at the name in the URL: nobody can be found under it.',
  ],
  [
    /webhooks go to/,
    `This address is not allowed: give one that the internet reaches, or work with ${nextSteps.startDev()}.`,
  ],
  [/not an http|holds a user name|could not be written/, 'Correct the URL.'],
  [/Port \d+ is not called/, 'Let the agent listen on port 443, or on one that is allowed.'],
  [/within \d+ second|in time/, 'Answer 200 at once, and work afterwards: the connection waits for nothing else.'],
  [/cut off|closed/, CUT_OFF_ADVICE],
  [/not proper HTTP/, 'Something else than a web server answers on this port.'],
  [/says nothing about the agent/, 'Try again later: the marketplace itself could not ask.'],
  [/answered 40[13]/, `${responseAdvice(401)} Save what it gets, and compare: ${nextSteps.verify()}`],
  [/answered 2/, 'Answer with exactly 200.'],
]

function endpointAdvice(message: string, { webhookUrl }: Agent): string {
  const alone = webhookUrl && !AWAY.test(message) ? ` Alone: ${emitTo(webhookUrl)}` : ''
  const [, known] = endpointFaults().find(([words]) => words.test(message)) ?? []
  const advice = known ?? responseAdvice(Number(/answered (\d{3})/.exec(message)?.[1]))
  return `${advice ?? 'Is the agent running, and does it answer 200 at once?'}${alone}`
}

/** Only dev trusts the certificate of its own front, so what it passes on goes to the agent itself. */
function emitTo(webhookUrl: string): string {
  const forwardTo = agentAt(webhookUrl)?.forwardTo
  return forwardTo ? nextSteps.emitTo(forwardTo) : nextSteps.emit(webhookUrl)
}

const SENDS =
  'After its 200 the agent must POST {"action":"accept"} to data.callbackUrl, signed with the secret over timestamp.body: agent-marketplace/webhooks does that.'

function callbackAdvice(message: string, slug: string, flags: string): string {
  if (message.startsWith('No callback')) {
    return `${SENDS} Does it reach that address, and does its own output show an error?`
  }
  // A simulator's report says more than what is wrong: also why, and what to do.
  if (/invalid signature arrived: [^.]+\. ./.test(message))
    return `Then once more: ${nextSteps.testConnection(slug, flags)}`
  if (/minutes old|minutes ahead/.test(message))
    return 'Set the clock of the agent by NTP, and sign each callback when it is sent.'
  return `${SENDS} In dev this check says what was signed instead. Or compare with ${nextSteps.sign()}`
}
