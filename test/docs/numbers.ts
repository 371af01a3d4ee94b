/**
 * What documents, and texts that are printed, say by hand that a record says too: each phrase is made of the record, so a changed record leaves a
 * document that lacks its phrase. Source: I-limits, I-durations, I-rates, A-2, A-49.
 */

import { dispatch } from '../../src/api/dispatch.ts'
import { agentSorts } from '../../src/api/endpoints/agents.ts'
import { agentEvents, agentStates, taskStates } from '../../src/api/flow.ts'
import {
  defaultKeeping,
  durations,
  guessing,
  heartbeat,
  limits,
  quickRetryScheduleMs,
  rates,
  retryAfterMaxMs,
  retryJitter,
  retryScheduleMs,
} from '../../src/api/limits.ts'
import { pricingModels } from '../../src/api/records.ts'
import { exitCodes, exitCodesInWords } from '../../src/cli/exit-codes.ts'
import { defaults } from '../../src/settings/config.ts'
import { spanOf } from './markdown.ts'

const MIB = 1024 * 1024
const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

const number = (value: number) => value.toLocaleString('en')
const word = (value: number) => WORDS[value] ?? number(value)
/** `a minute`, `an hour`, `2 days`. */
const span = (ms: number) =>
  spanOf(ms)
    .replace(/^1 (?=hour)/, 'an ')
    .replace(/^1 /, 'a ')
const range = ([from, to]: readonly [number, number]) => `${number(from)}–${number(to)}`
const most = ([, to]: readonly [number, number]) => number(to)
const seconds = (ms: number) => number(ms / 1000)
const minutes = (ms: number) => number(ms / 60_000)
const hours = (ms: number) => number(ms / durations.hourMs)
const days = (ms: number) => number(ms / durations.dayMs)
const mebibytes = (bytes: number) => number(bytes / MIB)
const code = (...names: readonly string[]) => names.map(name => `\`${name}\``)
const or = (names: readonly string[]) => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

const { agent, task, key, page, deliverable, price } = limits
const least = number(price.min)
const files = `${number(deliverable.files)} \`files\` of ${mebibytes(deliverable.fileBytes)} MB`
const longestRetry = hours(retryAfterMaxMs)
const quick = quickRetryScheduleMs.map(ms => ms / 1000)
const allRetries = retryScheduleMs.reduce((sum, ms) => sum + ms, 0)
const wholeDays = Math.floor(allRetries / durations.dayMs)
/** How long a webhook is tried again. */
const soLong = wholeDays === 1 ? 'more than a day' : `more than ${word(wholeDays)} days`
/** How long an agent keeps delivery ids. */
const idsKept = `${word(Math.ceil((allRetries * (1 + retryJitter)) / durations.dayMs))} days`

export const told: Readonly<Record<string, readonly string[]>> = {
  'docs/interface.md': [
    `take no less than ${least}.`,
    `\`limit\` (${page.default} unless given)`,
    `| \`name\` | required, ${range(agent.name)} characters |`,
    `| \`tagline\` | required, ${range(agent.tagline)} |`,
    `| \`description\` | required, ${range(agent.description)} |`,
    `| \`pricingModel\` | required: ${or(code(...pricingModels))} |`,
    `| \`basePrice\` | required, at least ${least} |`,
    `| \`categoryIds\` | required, ${range(agent.categories)} ids |`,
    `| \`turnaroundHours\` | ${range(agent.turnaroundHours)}; ${agent.turnaroundHoursDefault} unless given |`,
    `| \`maxRevisions\` | ${range(agent.maxRevisions)}, or null |`,
    `| \`tags\` | ${agent.tags} at most |`,
    `\`title\` (${range(task.title)} characters); \`description\` (${range(task.description)}); \`agreedPrice\` (at least ${least});`,
    `optionally \`requirements\` (${most(task.requirements)} at most)`,
    `\`content\` (${range(deliverable.content)} characters), optional \`notes\` (${most(deliverable.notes)} at most), and in a multipart form up to ${files} each`,
    `A key has a name (${range(key.name)} characters) and starts with \`svc_\`. An account has ${key.perAccount} at most.`,
    `only its prefix of ${limits.keyPrefix} characters`,
    `(each at least ${least}, none above the next)`,
    `older than ${days(durations.trustedAfterMs)} days without a chargeback`,
    `**I-task-states** — ${code(...taskStates).join(', ')}.`,
    `within ${hours(durations.disputeWindowMs)} hours of its completion`,
    `**I-agent-states** — ${code(...agentStates).join(', ')}.`,
    `has not passed a test for ${hours(durations.freshMs)} hours is hidden`,
    `\`sort\` (${code(...agentSorts).join(', ')}), \`page\`, \`limit\` up to ${page.max}`,
    `\`samples\` (${agent.samples} an agent, also \`GET\`)`,
    `up to ${word(deliverable.files)} parts named \`files\``,
    `after ${seconds(durations.webhookTimeoutMs)} seconds nobody listens`,
    `a well-signed callback within ${seconds(durations.testCallbackMs)} seconds`,
    `Every ${word(heartbeat.everyHours)} hours up to ${heartbeat.batch} agents are tested, those tested longest ago first, ${word(heartbeat.atOnce)} at a time`,
    `Green below ${hours(durations.amberMs)} hours since the last pass, amber up to ${hours(durations.freshMs)}`,
    `More than ${word(durations.signatureToleranceMs / 60_000)} minutes off, the request is refused`,
    `${agent.samples} samples an agent; ${key.perAccount} keys an account; pages of ${page.default}, at most ${page.max}. A page of the history of a task has up to ${limits.history.page.toLocaleString('en')} entries.`,
    `${hours(durations.disputeWindowMs)} hours for a dispute after completion; ${seconds(durations.webhookTimeoutMs)} seconds for a webhook; ${seconds(durations.testCallbackMs)} for a test's callback; ${minutes(durations.signatureToleranceMs)} minutes of clock difference; ${heartbeat.everyHours} hours between heartbeats; ${hours(durations.freshMs)} hours of freshness.`,
    `Each minute: general ${rates.general.limit}, authentication ${rates.authentication.limit}, webhooks ${rates.webhooks.limit}, uploads ${rates.file_upload.limit}, search ${rates.search.limit}. Each hour: registration ${rates.registration.limit}, password reset ${rates.password_reset.limit}, creating tasks ${rates.task_creation.limit}, submitting them ${rates.task_submission.limit}.`,
  ],
  'docs/guides/agents.md': [
    ...agentEvents.map(name => `\`${name}\``),
    `After ${seconds(durations.webhookTimeoutMs)} seconds without an answer`,
    `first after seconds, then in steps of up to ${word(Number(longestRetry))} hours, for ${soLong}`,
    `Keep the ids of ${idsKept} where they survive a restart: a retry can come ${soLong} later`,
    `Refuse a timestamp **more than ${minutes(durations.signatureToleranceMs)} minutes** from your clock`,
    `within ${minutes(durations.signatureToleranceMs)} minutes the same signature gets the first answer`,
    `up to ${files};`,
    `A payment clears after ${word(durations.clearingMs / durations.dayMs)} days`,
    `every agent is tested ${word(heartbeat.runsPerDay)} times a day`,
    `> ${durations.signatureToleranceMs.toLocaleString('en').replaceAll(',', '_')}:`,
  ],
  'docs/guides/deploy.md': [
    `| \`--host\` | \`MARKETPLACE_HOST\` | \`${defaults.host}\` |`,
    `| \`--port\` | \`MARKETPLACE_PORT\` | \`${defaults.port}\` |`,
    `| \`--db\` | \`MARKETPLACE_DB\`, \`DATABASE_URL\` | \`${defaults.serve.db}\` |`,
    `| \`MARKETPLACE_PAYMENTS\` | \`${defaults.serve.payments}\` |`,
    `| \`MARKETPLACE_RATE_LIMITS\` | \`${defaults.serve.rateLimits}\` |`,
    `| \`MARKETPLACE_DB_POOL\` | \`${defaults.poolSize}\` |`,
    `| \`MARKETPLACE_HEARTBEAT_BATCH\` | \`${heartbeat.batch}\` | agents that one run of the health checks (every ${heartbeat.everyHours} hours)`,
    `| \`MARKETPLACE_EGRESS_PORTS\` | \`${defaults.egressPorts}\` |`,
    `| \`MARKETPLACE_RETENTION_DELIVERIES\` | \`${defaultKeeping.deliveryDays}\` |`,
    `| \`MARKETPLACE_RETENTION_NOTIFICATIONS\` | \`${defaultKeeping.notificationDays}\` |`,
    `| \`MARKETPLACE_QUOTA_FILES\` | \`${defaultKeeping.fileMiB}\` |`,
    `| \`MARKETPLACE_LIMIT_FILES\` | \`${defaultKeeping.allFilesMiB}\` |`,
    `| \`MARKETPLACE_QUOTA_TEXTS\` | \`${defaultKeeping.textMiB}\` |`,
    `| \`MARKETPLACE_QUOTA_AGENTS\` | \`${defaultKeeping.agents}\` |`,
    `| \`MARKETPLACE_QUOTA_DELIVERABLES\` | \`${defaultKeeping.deliverables}\` |`,
    `| \`MARKETPLACE_QUOTA_EVENTS\` | \`${defaultKeeping.waitingEvents}\` |`,
    `| \`MARKETPLACE_QUOTA_IDEMPOTENCY_KEYS\` | \`${defaultKeeping.idempotencyKeys}\` | answers of ${limits.idempotency.usualBytes / 1024} KiB`,
    `bodies may have 52 MB (${word(deliverable.files)} files of ${mebibytes(deliverable.fileBytes)})`,
    `${rates.general.limit} requests a minute are all there is for everybody`,
    `wait up to ${minutes(guessing.rules.pair.capMs)} minutes`,
    `| ${defaultKeeping.deliveryDays} days after the end; then the log says that there was one, for ${durations.deliveryRowMs === 365 * durations.dayMs ? 'a year' : days(durations.deliveryRowMs)} |`,
    `exits ${exitCodes.check} if anything does not add up, ${exitCodes.failed} if it could not look`,
    `| Notifications | ${defaultKeeping.notificationDays} days |`,
    `${days(durations.unsentMailMs)} days where mail was turned off`,
    `| Sessions | ${days(durations.session.absoluteMs)} days; password resets ${span(durations.passwordResetMs)} |`,
    `| ${hours(durations.idempotency.keptMs)} hours; signatures of callbacks ${minutes(durations.seenSignatureMs)} minutes |`,
    `| Files of one account | ${defaultKeeping.fileMiB / 1024} GiB;`,
    `| Deliverables of one task | ${defaultKeeping.deliverables} |`,
    `| ${number(defaultKeeping.waitingEvents)}; a message beyond them is refused`,
  ],
  'docs/guides/operate.md': [
    `exits with ${exitCodes.failed} (${exitCodes.usage}: a setting is wrong)`,
    `exits with ${exitCodes.check} if it does not`,
  ],
  'docs/guides/scale.md': [
    `\`--db-pool\` (${defaults.poolSize})`,
    `${word(dispatch.perHost)} webhooks in flight per host, ${dispatch.overall} overall`,
    `is sent by another after ${dispatch.silentMs / 1000} seconds,`,
    `(${mebibytes(deliverable.fileBytes)} MB each, ${deliverable.files} a request)`,
    `The clearing time of ${hours(durations.clearingMs)} hours`,
  ],
  'docs/guides/testing.md': [
    `Where no callback comes within ${seconds(durations.testCallbackMs)} seconds`,
    `a command with curl, which works for ${word(durations.signatureToleranceMs / 60_000)} minutes`,
  ],
  'docs/architecture.md': [`tests agents every ${word(heartbeat.everyHours)} hours`],
  'docs/decisions/webhooks-out.md': [
    `\`Retry-After\` asks (${longestRetry} h at most)`,
    `An agent that is down for ${soLong} misses events`,
  ],
  'docs/decisions/simulator.md': [
    `then up to ${longestRetry} hours (A-37)`,
    `${quick.slice(0, 3).join(', ')} and ${quick[3]} seconds, then ${quickRetryScheduleMs.slice(4, -1).map(spanOf).join(', ')} and ${spanOf(quickRetryScheduleMs.at(-1)!)}`,
  ],
  'SECURITY.md': [
    `HMAC over the raw body, ${word(durations.signatureToleranceMs / 60_000)} minutes, each signature accepted once`,
  ],
  'docs/glossary.md': [`the ${hours(durations.clearingMs)} hours between an approval and money that can be spent`],
  'src/cli/table/running.ts': [`real: for ${soLong}, as elsewhere`],
  'src/conform/checks/duplicates.ts': [
    `whose webhook is retried for ${soLong}`,
    `hears of the same task over ${Math.round(allRetries / durations.hourMs)} hours`,
    `Keep delivery ids for ${idsKept} at least, however many`,
  ],
  'src/conform/checks/event-order.ts': [`Keep delivery ids for ${idsKept} at least`],
  'src/sim/webhooks/unusual.ts': [`its body is ${soLong} old`],
  'README.md': [`Exit codes: ${exitCodesInWords}.`],
}
