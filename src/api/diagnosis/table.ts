/**
 * The one table of what can be wrong with an agent, a task, a webhook or a callback, and of what helps: in words, for a simulator and
 * for a deployment, and as commands. Whoever tells a person or a program takes it from here. Source: A-288.
 */
import { fixes, LOOK_AT_SECRET, type Cause as SignatureCause } from './causes.ts'

interface CauseRecord {
  /** What to do. */
  readonly fix: string
  /** The same in a simulator, where other words help there. */
  readonly inDev?: string
  /**
   * Command lines that help, without the name of the program. `{agent}`, `{delivery}`, `{exchange}`, `{task}`, `{location}`, `{forwarded}`, the
   * URL of an agent that dev passes its webhooks on to, and `{port}`, that of a dev on this machine, stand for what it is about; one that has no value for its place is left out.
   */
  readonly next?: readonly string[]
  readonly nextInDev?: readonly string[]
  /** Somebody wanted it so: it is nobody's failure. */
  readonly isMeant?: true
}

const TEST = 'test-connection {agent}'
const FORWARD = 'dev --forward-to http://localhost:3000/webhook'
const RESEND = 'deliveries resend {delivery}'
const ANSWER_FIRST = 'Answer 200 at once, and work afterwards: the connection waits for nothing else.'
const LOOK = 'Look at what the agent itself has printed.'
const LISTEN = 'Start the agent, and look at host and port in its URL.'
const CALL_BACK =
  'After its 200 the agent must POST {"action":"accept"} to data.callbackUrl, signed with its secret: agent-marketplace/webhooks does that. Does it reach that address, and does its own output show an error?'
const IN_TURN = 'An agent accepts, then delivers: once for each X-Service-Delivery-Id, however often it comes.'
const HTTPS = `Webhooks go to https:// only: save such a URL. For a plain http agent let dev do the https.`

const signatureCauses = Object.fromEntries(
  Object.entries(fixes).map(([cause, fix]) => [cause, { fix, next: [TEST] }]),
) as unknown as Record<SignatureCause, CauseRecord>

const others = {
  // what the agent answers to a webhook
  redirect: {
    fix: 'Redirects are not followed. Save the URL that it leads to.',
    inDev:
      'Redirects are not followed. Let the agent take POST at this very path, or give dev the URL that it leads to: --forward-to.',
    next: ['agents update {agent} --webhook-url {location}', TEST],
    nextInDev: [TEST],
  },
  wrong_path: { fix: 'Look at the path in the URL: the agent takes POST at another one.', next: [TEST] },
  wrong_method: { fix: 'Look at the path in the URL: what answers there takes no POST.', next: [TEST] },
  not_understood: {
    fix: 'The agent did not understand the body: it is JSON, with every field of a real webhook. Or it says 400 where it means that the signature is wrong.',
    next: [TEST],
  },
  too_large: {
    fix: 'Let the agent take larger bodies: a task has long texts, and what takes them often stops at 100 KB.',
    next: [TEST],
  },
  too_busy: { fix: 'The agent asks to be left alone for a while: it is sent again later.', next: [TEST] },
  gone: {
    fix: '410 says that the agent is gone for good, so it is not tried again. Answer 503 for a while.',
    next: [RESEND],
  },
  agent_failed: {
    fix: `The agent failed. ${LOOK}`,
    next: [TEST],
    nextInDev: ['emit task.submitted --to {forwarded}', TEST],
  },
  agent_away: {
    fix: 'What stands before the agent does not reach it: look whether the agent runs, and at which port.',
    next: [TEST],
  },
  not_200: { fix: 'Answer the connection test with exactly 200.', next: [TEST] },
  odd_status: { fix: `Answer with a status of 2xx. ${LOOK}`, next: [TEST] },
  // no answer
  nobody_listens: { fix: LISTEN, next: [TEST] },
  unknown_name: { fix: 'Look at the name in the URL: nobody can be found under it.', next: [TEST] },
  too_slow: { fix: `${ANSWER_FIRST} If it was asked nothing at all, look at the firewall before it.`, next: [TEST] },
  cut_off: { fix: `The agent, or a proxy before it, ended the connection. ${LOOK}`, next: [TEST] },
  bad_tls: {
    fix: 'Use a certificate of a known authority, for the name that the URL has, with its whole chain.',
    inDev: 'Start the marketplace with NODE_EXTRA_CA_CERTS=cert.pem, or let dev do the https for a plain http agent.',
    next: [TEST],
    nextInDev: [FORWARD],
  },
  no_http: { fix: 'Something else than a web server answers on this port.', next: [TEST] },
  forbidden_address: {
    fix: 'This address is not allowed: give one that the internet reaches, or work with dev.',
    next: ['agents update {agent} --webhook-url https://agent.example/webhook'],
  },
  bad_url: { fix: 'Correct the URL.', next: ['agents update {agent} --webhook-url https://agent.example/webhook'] },
  no_https: { fix: HTTPS, next: [FORWARD] },
  no_url: { fix: 'Save one.', next: ['agents update {agent} --webhook-url https://agent.example/webhook'] },
  no_webhook_secret: { fix: 'Make one.', next: ['secret rotate {agent}'] },
  own_fault: {
    fix: 'The marketplace itself could not ask; this says nothing about the agent. Try again later.',
    next: [TEST],
  },
  // what the agent calls back
  no_callback: {
    fix: CALL_BACK,
    inDev: `${CALL_BACK} In a container localhost is the container: dev can give another address.`,
    next: [TEST],
    nextInDev: [TEST, 'dev --port {port} --public-url http://host.docker.internal:{port}'],
  },
  bad_callback: {
    fix: 'Send JSON with the fields that the action needs, and add the header Content-Type: application/json.',
    next: [TEST],
  },
  wrong_callback_path: { fix: 'Callbacks go to data.callbackUrl of the webhook, as it stands.', next: [TEST] },
  not_allowed: {
    fix: 'Sign the callback with the secret of the agent, or send the API key of its builder.',
    next: ['keys list'],
  },
  doubled_callback: { fix: IN_TURN, next: ['tasks show {task}'] },
  too_late: {
    fix: 'Stop work when task.cancelled, task.approved or task.disputed comes.',
    next: ['tasks show {task}'],
  },
  not_accepted: { fix: IN_TURN, next: ['tasks show {task}'] },
  out_of_turn: { fix: IN_TURN, next: ['tasks show {task}'] },
  refused_callback: { fix: 'Look at the words of the response, and mend what they name.', next: ['tasks show {task}'] },
  test_over: { fix: 'Nothing that takes longer may stand between a webhook and its first callback.', next: [TEST] },
  // in time
  work_before_answer: {
    fix: `${ANSWER_FIRST} An answer that takes thirty seconds counts as none, and the same webhook comes again.`,
    next: [TEST],
  },
  slow_answer: { fix: ANSWER_FIRST, next: [TEST] },
  died_at_work: {
    fix: 'Its 200 said that the agent has the webhook, so it will not come again by itself: mend the agent, then send it once more.',
    next: [RESEND],
  },
  died_before_answer: { fix: `It comes again when the agent is back. ${LOOK}`, next: [TEST] },
  silent: {
    fix: 'If it still works on it, wait. If not: its 200 said that it has the webhook, so it will not come again by itself.',
    next: [RESEND],
  },
  // on purpose
  armed_fault: {
    fix: 'The agent is not to blame: the fault is met once, and what comes next goes its usual way.',
    next: ['fault list'],
    isMeant: true,
  },
  down_on_purpose: {
    fix: 'Nobody is to answer there: dev has this agent to show what buyers see of one that is down.',
    next: [FORWARD],
    isMeant: true,
  },
  // why an agent is not listed
  untested: { fix: 'Run the connection test.', next: [TEST] },
  stale_test: { fix: 'Run the connection test once more.', next: [TEST] },
  unpublished: { fix: 'Publish it.', next: ['agents publish {agent}'] },
  in_review: { fix: 'Wait for an administrator.', nextInDev: ['admin agents approve {agent}'], isMeant: true },
  deactivated: {
    fix: 'Reactivate it, with a test that passed after that.',
    next: [TEST, 'agents reactivate {agent}'],
    isMeant: true,
  },
  builder_suspended: { fix: 'Ask the operator.' },
  builder_banned: { fix: 'Ask the operator.' },
  deleted: { fix: 'Make another.', next: ['agents create'], isMeant: true },
  // what a buyer is told of an agent of somebody else
  agent_unreachable: {
    fix: 'Wait, as the marketplace tries again, or take the money back.',
    next: ['tasks cancel {task}'],
  },
  agent_silent: {
    fix: 'Wait, write to the agent, or take the money back while it has not accepted.',
    next: ['tasks cancel {task}'],
  },
} as const satisfies Readonly<Record<string, CauseRecord>>

export type Cause = SignatureCause | keyof typeof others

export const causes: Readonly<Record<Cause, CauseRecord>> = {
  ...signatureCauses,
  ...others,
  refused_by_agent: {
    fix: fixes.refused_by_agent,
    inDev: `${LOOK_AT_SECRET} To compare, let it print what it signs, and look at the bytes that came.`,
    next: [TEST],
    nextInDev: ['dev --print-env', 'exchanges show {exchange}', TEST],
  },
  // No agent is known, so none can be tested; each webhook that was sent shows its callbackUrl.
  unknown_task: { fix: fixes.unknown_task, next: ['exchanges list'] },
}

export const causeNames = Object.keys(causes) as [Cause, ...Cause[]]
