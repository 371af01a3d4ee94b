/**
 * What agents may do with each rule about them, and which check sees it. *Obeyed* is every agent that is right: `npm run test:mutants -- right:`.
 * A cell names checks, or says why there is none.
 */
import type { must, should } from '../../src/conform/checks/owed.ts'

export interface Behaviours {
  /** Not at all. */
  readonly ignored: string
  /** For some of what it is about. */
  readonly half: string
  /** But not in time, or not in order. */
  readonly late: string
  /** At first, and later not. */
  readonly once: string
}

/** A rule that says when nothing is done has no late. */
const NOTHING_TO_DO = 'why not: nothing is to be done, so it can’t come late'
const EACH_TIME = 'why not: every event of a run is held to it, so the first that breaks it is seen'

/** Of what agents owe beside the interface, by the name of the sentence. */
export const ofOwed: Readonly<Record<keyof typeof must | keyof typeof should, Behaviours>> = {
  refuse: {
    ignored: 'sig.wrong-secret sig.missing-all',
    half: 'sig.missing-signature sig.missing-timestamp sig.empty sig.empty-secret sig.other-agent sig.one-bit sig.first-half sig.truncated sig.trailing-garbage sig.not-hex sig.stale-301s sig.future-301s sig.doubled-header',
    late: 'sig.refusal-clean rel.cut-body',
    once: 'conn.new-secret dup.forged-does-not-burn sig.valid',
  },
  believeItsSecret: {
    ignored: 'conn.new-secret',
    half: 'conn.new-secret',
    late: 'why not: it gets the secret when it starts, and every webhook afterwards is signed with that',
    once: EACH_TIME,
  },
  ignoreNoEvent: { ignored: 'sig.reflected', half: 'rel.not-an-event', late: NOTHING_TO_DO, once: EACH_TIME },
  answer: {
    ignored: 'sig.valid http.ack',
    half: 'http.ack-200 http.unknown-event order.unknown-task life.message hire.delivered-to-buyer',
    late: 'http.ack-prompt http.ack-not-after-work rel.sigterm',
    once: 'life.dispute-last-minute dup.ends rel.alive',
  },
  passTests: {
    ignored: 'conn.endpoint-200',
    half: 'conn.price-zero',
    late: 'conn.endpoint-200',
    once: 'conn.heartbeat-day rel.alive',
  },
  treatAlike: {
    ignored: 'life.decides life.delivers',
    half: 'bytes.spaces bytes.escapes bytes.astral bytes.line-separators bytes.control bytes.direction bytes.markup bytes.largest bytes.cut-letter who.tiers who.agent life.smallest life.price-is-free http.two-at-once',
    late: 'order.message-first sig.body-time-not-judged life.deactivated',
    once: 'dup.not-by-content who.two-buyers-same-words http.fresh-connection',
  },
  keepApart: {
    ignored: 'order.interleaved',
    half: 'who.one-buyer-five-tasks conn.test-beside-work',
    late: NOTHING_TO_DO,
    once: EACH_TIME,
  },
  haveOneEffect: {
    ignored: 'dup.retry dup.same-bytes',
    half: 'dup.at-once dup.message dup.revision dup.replayed dup.redelivered dup.not-by-task dup.not-by-text hire.pays-once',
    late: 'dup.late rel.hang-up',
    once: 'dup.old-revision dup.submitted-in-revision dup.after-restart order.late-copy-of-finished',
  },
  deliverOnce: {
    ignored: 'life.revision life.one-deliverable',
    half: 'cb.lost-deliver life.done-once',
    late: 'cb.slow life.day-later',
    once: 'life.revision-rounds',
  },
  leaveWhatIsOver: {
    ignored: 'life.cancelled life.rejects',
    half: 'life.dispute-refund life.dispute-release life.approved order.message-after-end',
    late: 'order.dispute-in-work order.cancelled-first',
    once: 'order.late-copy-of-finished',
  },
  callAsItStands: {
    ignored: 'cb.url',
    half: 'cb.no-redirect safe.no-foreign-host',
    late: NOTHING_TO_DO,
    once: EACH_TIME,
  },
  notStorm: { ignored: 'cb.no-storm', half: 'cb.stops-at-401', late: NOTHING_TO_DO, once: EACH_TIME },
  keepSecrets: { ignored: 'safe.secret', half: 'who.injection safe.no-stack', late: NOTHING_TO_DO, once: EACH_TIME },
  doAsDeclared: {
    ignored: 'life.sample-rejected',
    half: 'life.sample-accepted',
    late: 'life.decides',
    once: 'life.sample-accepted',
  },
  answer401: {
    ignored: 'sig.refusal-401',
    half: 'sig.refusal-401',
    late: 'sig.refusal-clean',
    once: 'sig.refusal-401',
  },
  answerSoon: {
    ignored: 'http.ack-prompt',
    half: 'sig.refusal-clean rel.two-megabytes',
    late: 'http.ack',
    once: 'why not: an answer that is slow once may be the machine',
  },
  repeat: { ignored: 'cb.lost-accept', half: 'cb.bad-gateway cb.not-committed', late: 'cb.down', once: 'cb.down' },
  waitAsAsked: {
    ignored: 'cb.retry-after',
    half: 'cb.retry-after',
    late: 'why not: whoever waits longer is asked nothing',
    once: 'cb.no-storm',
  },
  takeAsEnd: {
    ignored: 'cb.stops-at-400 cb.lost-race',
    half: 'cb.stops-at-401 hire.over-cap',
    late: 'life.cancel-race',
    once: 'life.cancel-race',
  },
  giveReasons: {
    ignored: 'life.reject-reason',
    half: 'life.reject-reason',
    late: 'why not: a reason is part of its rejection',
    once: 'life.reject-reason',
  },
  changeInRevisions: {
    ignored: 'life.revision-differs',
    half: 'life.second-reason',
    late: 'why not: a revision that comes late has its own check, life.revision',
    once: 'life.second-reason',
  },
  callBackAboutTests: {
    ignored: 'conn.callback-arrives',
    half: 'conn.callback-signature',
    late: 'conn.callback-arrives',
    once: 'conn.test-twice',
  },
  goOn: {
    ignored: 'rel.not-json',
    half: 'rel.empty-body rel.not-an-event',
    late: NOTHING_TO_DO,
    once: 'rel.not-an-event',
  },
}

const FORM = 'why not: a form has no time'

/** Of the interface, and of decisions that say what agents send, by the name of the rule. */
export const ofRules: Readonly<Record<string, Behaviours>> = {
  'I-test-checks': {
    ignored: 'conn.endpoint-200',
    half: 'conn.callback-signature',
    late: 'conn.callback-arrives',
    once: 'conn.test-twice',
  },
  'I-test-webhook': {
    ignored: 'conn.test-is-quiet',
    half: 'conn.test-is-quiet',
    late: NOTHING_TO_DO,
    once: 'why not: work for a later test alone costs its builder, and no buyer sees it',
  },
  'I-durations': { ignored: 'sig.near-limit', half: 'sig.stale-301s', late: NOTHING_TO_DO, once: EACH_TIME },
  'I-signature': {
    ignored: 'sig.time-not-signed sig.no-dot cb.digest-form',
    half: 'sig.body-one-byte sig.body-appended sig.body-other-spelling sig.time-swapped',
    late: FORM,
    once: 'cb.signature',
  },
  'I-timestamp': {
    ignored: 'sig.stale-day sig.seconds cb.time-form',
    half: 'sig.future-301s sig.not-a-number',
    late: 'cb.clock',
    once: EACH_TIME,
  },
  'A-17': { ignored: 'http.extra-fields', half: 'bytes.numbers who.html-name', late: FORM, once: EACH_TIME },
  'I-webhook-request': {
    ignored: 'http.only-law-headers',
    half: 'bytes.charset http.chunked http.get-harmless',
    late: 'http.chunked',
    once: 'http.one-connection',
  },
  'I-task-input': {
    ignored: 'bytes.largest',
    half: 'bytes.largest-escaped bytes.no-requirements',
    late: FORM,
    once: EACH_TIME,
  },
  'I-webhook-answer': { ignored: 'http.ack', half: 'http.ack-200', late: 'http.ack-not-after-work', once: EACH_TIME },
  'A-37': {
    ignored: 'rel.down-and-up',
    half: 'http.extra-headers',
    late: 'order.held-up',
    once: 'http.burst rel.killed-in-work',
  },
  'I-webhook-body': {
    ignored: 'bytes.key-order',
    half: 'who.unknown-tier who.unknown-type',
    late: FORM,
    once: EACH_TIME,
  },
  'A-38': { ignored: 'cb.task-id', half: 'cb.task-id', late: 'cb.clock', once: 'cb.unique' },
  'I-callback': { ignored: 'cb.json', half: 'cb.action', late: FORM, once: EACH_TIME },
  'I-callback-only': { ignored: 'cb.files', half: 'cb.files', late: FORM, once: EACH_TIME },
  'I-out-of-turn': { ignored: 'dup.quiet', half: 'life.done-once', late: 'cb.stops-at-400', once: EACH_TIME },
  'I-task-accept': { ignored: 'life.decides', half: 'life.accepts', late: 'life.decides', once: 'http.burst' },
  'I-task-deliver': {
    ignored: 'life.accept-before-deliver life.delivers',
    half: 'life.one-deliverable',
    late: 'life.delivers',
    once: 'life.revision',
  },
  'I-deliverable-input': { ignored: 'life.content', half: 'life.content', late: FORM, once: EACH_TIME },
  'I-task-revision': {
    ignored: 'life.revision',
    half: 'life.revision-in-progress',
    late: 'life.day-later',
    once: 'life.revision-rounds',
  },
  'A-20': { ignored: 'life.message-length', half: 'life.message-length', late: 'life.cancelled', once: EACH_TIME },
  'I-envelope': { ignored: 'safe.no-stack', half: 'safe.no-stack', late: FORM, once: EACH_TIME },
  'I-task-approve': { ignored: 'hire.ends-it', half: 'hire.pays-once', late: 'hire.ends-it', once: 'hire.pays-once' },
  'I-events-internal': {
    ignored: 'hire.delivered-to-buyer',
    half: 'hire.not-the-seller',
    late: NOTHING_TO_DO,
    once: 'hire.pays-once',
  },
}
