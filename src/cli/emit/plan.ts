/** Reads the flags of `emit`: what to send, how often, and how it differs from what the marketplace would send. */
import type { EventName, EventPayload } from '../../api/events.ts'
import { type FaultName, faultNames, faults } from '../../api/faults.ts'
import { durations } from '../../api/limits.ts'
import { UsageError } from '../../settings/config.ts'
import { type Forgery, forgeries } from '../../sim/webhooks/forgeries.ts'
import { eventNames } from '../../sim/webhooks/sample-event.ts'
import { type Dress, dresses } from '../../sim/webhooks/unusual.ts'
import { jsonGiven, numberGiven } from '../command-line/json-input.ts'
import { agentAt } from '../connection/dev-folder.ts'
import { type SecretFlags, secretGiven } from '../connection/webhook-secret.ts'
import { durationGiven } from '../output/numbers.ts'
import type { AnswerFlags, CommandOutput } from '../output/output.ts'

export interface EmitFlags extends AnswerFlags, SecretFlags {
  to?: string
  callbackUrl?: string
  data?: string
  field?: string[]
  header?: string[]
  forge?: string
  dress?: string
  fault?: string
  times?: string
  gap?: string
  wait?: string
  strict?: boolean
  dryRun?: boolean
}

export interface EmitPlan {
  event: EventName
  to: string
  secret: string
  callbackUrl: string | undefined
  change: (payload: EventPayload) => EventPayload
  headers: readonly (readonly [name: string, value: string])[]
  /** One for each webhook. */
  variants: readonly Variant[]
  gapMs: number
  waitMs: number
  strict: boolean
}

/** How one webhook differs from what the marketplace would send, if it does. */
export interface Variant {
  forgery?: Forgery
  dress?: Dress
  fault?: LoneFault
}

/** What can go wrong on the way, where no marketplace follows. */
interface LoneFault {
  readonly name: FaultName
  readonly does: string
  readonly direction: 'webhook' | 'callback'
}

const loneFaults: readonly LoneFault[] = faultNames
  .filter(name => faults[name].alone)
  .map(name => ({ name, ...faults[name] }))

const MOST_TIMES = 1_000

export async function planOf(name: string, flags: EmitFlags, output: CommandOutput): Promise<EmitPlan> {
  const { callbackUrl, gap = '0ms', strict = false } = flags
  const event = eventNamed(name)
  const to = urlGiven('--to', flags.to ?? '')
  const known = agentAt(to)
  return {
    event,
    // The certificate of a dev is trusted by that dev alone: what that passes on goes to the agent itself.
    to: known?.forwardTo ?? to,
    secret: await secretGiven(flags, output, known?.webhookSecret),
    callbackUrl: callbackUrl === undefined ? undefined : urlGiven('--callback-url', callbackUrl),
    change: await changeOf(flags),
    headers: (flags.header ?? []).map(headerIn),
    variants: variantsOf(flags),
    gapMs: durationGiven(gap),
    waitMs: flags.wait === undefined ? durations.testCallbackMs : durationGiven(flags.wait),
    strict,
  }
}

function variantsOf({ forge, dress, fault, dryRun, times }: EmitFlags): Variant[] {
  if ([forge, dress, fault].filter(kind => kind !== undefined).length > 1)
    throw new UsageError('--forge, --dress and --fault exclude each other.')
  if (fault !== undefined && dryRun) throw new UsageError('--fault happens on the way, so it takes no --dry-run.')
  const chosen: Variant[] =
    forge !== undefined
      ? kindsOf('--forge', forge, forgeries).map(forgery => ({ forgery }))
      : dress !== undefined
        ? kindsOf('--dress', dress, dresses).map(one => ({ dress: one }))
        : fault !== undefined
          ? kindsOf('--fault', fault, loneFaults).map(one => ({ fault: one }))
          : [{}]
  if (times === undefined) return chosen
  if (chosen.length > 1) throw new UsageError('all sends each kind once, so it takes no --times.')
  return Array.from({ length: numberGiven('--times', times, [1, MOST_TIMES]) }, () => chosen[0]!)
}

function kindsOf<Kind extends { name: string }>(flag: string, wanted: string, all: readonly Kind[]): readonly Kind[] {
  if (wanted === 'all') return all
  const kind = all.find(({ name }) => name === wanted)
  if (kind) return [kind]
  throw new UsageError(
    `${flag} knows no ${wanted}. It takes all, or one of: ${all.map(({ name }) => name).join(', ')}.`,
  )
}

/** `--data` replaces fields of `data`; `--field` then sets any field by its path. */
async function changeOf({ data, field = [] }: EmitFlags): Promise<EmitPlan['change']> {
  const replaced = data === undefined ? {} : objectOf(await jsonGiven('--data', data))
  const paths = field.map(fieldIn)
  return payload => {
    const changed = structuredClone({ ...payload, data: { ...payload.data, ...replaced } })
    for (const { path, value } of paths) set(changed as Fields, path, value)
    return changed as EventPayload
  }
}

type Fields = Record<string, unknown>

/** `data.agreedPrice=500`: what is JSON is taken as such, anything else as text. */
function fieldIn(given: string): { path: string[]; value: unknown } {
  const at = given.indexOf('=')
  const path = given.slice(0, at).split('.')
  if (at < 1 || path.some(name => name === '' || name === '__proto__')) {
    throw new UsageError(`--field takes a path and a value, like data.agreedPrice=500, not ${given}.`)
  }
  const text = given.slice(at + 1)
  try {
    return { path, value: JSON.parse(text) }
  } catch {
    return { path, value: text }
  }
}

function set(fields: Fields, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) fields[name] = value
  else {
    const inner = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof inner !== 'object' || inner === null) fields[name] = {}
    set(fields[name] as Fields, rest, value)
  }
}

function headerIn(given: string): readonly [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/.exec(given) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new UsageError(`--header takes a line like 'X-Name: value', not ${given}.`)
}

function eventNamed(name: string): EventName {
  const event = eventNames.find(known => known === name || known === `task.${name}`)
  if (event) return event
  throw new UsageError(`There is no event ${name}. The events: ${eventNames.join(', ')}.`)
}

function urlGiven(flag: string, text: string): string {
  if (URL.canParse(text) && /^https?:\/\//i.test(text)) return text
  throw new UsageError(`${flag} takes an address like http://127.0.0.1:3000/webhook${text ? `, not ${text}` : ''}.`)
}

function objectOf(text: string): Fields {
  const value = JSON.parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new UsageError(
    `--data takes a JSON object: fields of data and what they are to be, like '{"agreedPrice": 900}'.`,
  )
}
