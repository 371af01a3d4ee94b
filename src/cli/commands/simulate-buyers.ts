/** `marketplace simulate buyers`: many buyers with characters, over days that go by in moments, with one agent. */
import { randomInt } from 'node:crypto'
import { grouped } from '../../api/spans.ts'
import { UsageError } from '../../settings/config.ts'
import type { Life } from '../../sim/buyers/lives.ts'
import type { Persona } from '../../sim/buyers/persona.ts'
import { personas } from '../../sim/buyers/personas.ts'
import { numberGiven } from '../command-line/json-input.ts'
import { WHICH_AGENT, withAgentAway } from '../conformance/agent-given.ts'
import { type SecretFlags, secretGiven } from '../connection/webhook-secret.ts'
import { exitCodes } from '../exit-codes.ts'
import { durationGiven, durationInWords } from '../output/numbers.ts'
import { type AnswerFlags, type CommandOutput, withOutput } from '../output/output.ts'
import { showProgress } from '../output/progress.ts'
import { money, paragraph } from '../output/ui.ts'

export interface BuyersFlags extends AnswerFlags, SecretFlags {
  start?: string
  url?: string
  buyers?: string
  tasks?: string
  mix?: string
  for?: string
  seed?: string
  timeout?: string
  stories?: boolean
}

const MOST = { buyers: 1_000, tasks: 10_000, days: 366, seed: 2 ** 31 - 1 }
const DAY = 86_400_000

export const buyers = (flags: BuyersFlags): Promise<number> =>
  withOutput(flags, async output => {
    const plan = planOf(flags)
    const secret = flags.start === undefined ? await secretGiven(flags, output) : null
    const progress = await showProgress(output)
    const show = (ended: number) => progress.wait(`${bar(ended / plan.tasks)} ${ended} of ${plan.tasks} tasks`)
    show(0)
    const { simulate } = await import('../../conform/crowd-of-buyers.ts')
    try {
      const told = await simulate({
        ...plan,
        ...{ url: flags.url ?? null, command: flags.start ?? null, secret },
        onLife: show,
      })
      progress.clear()
      return tell(output, { ...told, seed: plan.seed, stories: flags.stories === true })
    } catch (error) {
      throw withAgentAway(error, flags.start !== undefined)
    } finally {
      progress.clear()
    }
  })

function planOf({
  start,
  url,
  buyers = '10',
  tasks,
  mix = 'easy',
  for: time = '7d',
  seed,
  timeout = '30s',
}: BuyersFlags) {
  if (start === undefined && url === undefined) throw new UsageError(WHICH_AGENT)
  const forMs = durationGiven(time)
  if (forMs === 0 || forMs > MOST.days * DAY)
    throw new UsageError(`--for takes a time that is longer than none, ${MOST.days}d at most, not ${time}.`)
  const patienceMs = durationGiven(timeout)
  if (patienceMs === 0) throw new UsageError(`--timeout takes a time that is longer than none, not ${timeout}.`)
  const count = numberGiven('--buyers', buyers, [1, MOST.buyers])
  return {
    buyers: count,
    tasks: tasks === undefined ? usualTasks(count, forMs) : numberGiven('--tasks', tasks, [1, MOST.tasks]),
    mix: mixOf(mix),
    forMs,
    seed: seed === undefined ? randomInt(MOST.seed) : numberGiven('--seed', seed, [0, MOST.seed]),
    patienceMs,
  }
}

/** Each buyer comes once a day, and once at least. */
function usualTasks(buyers: number, forMs: number): number {
  const days = Math.max(1, forMs / DAY)
  const tasks = Math.ceil(buyers * days)
  if (tasks <= MOST.tasks) return tasks
  throw new UsageError(
    `${buyers} buyers, each with a task a day, have ${grouped(tasks)} tasks in ${durationInWords(forMs)}; at most ${grouped(MOST.tasks)} are simulated: give --tasks, or a shorter --for.`,
  )
}

/** `picky:3,ghost:1`, or `all`. */
function mixOf(text: string): { persona: Persona; share: number }[] {
  if (text === 'all') return personas.map(persona => ({ persona, share: 1 }))
  return text.split(',').map(part => {
    const [, name, share = '1'] = /^([\w-]+)(?::(\d{1,4}))?$/.exec(part) ?? []
    const persona = personas.find(one => one.name === name)
    if (persona && Number(share) > 0) return { persona, share: Number(share) }
    const known = personas.map(one => `  ${one.name.padEnd(LONGEST_NAME)}  ${one.does}`).join('\n')
    throw new UsageError(`--mix takes all, or characters with their shares, as picky:3,ghost:1, not ${part}:\n${known}`)
  })
}

const WIDTH = 20
const bar = (share: number) => '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░')

interface Told {
  lives: readonly Life[]
  money: Readonly<Record<'held' | 'clearing' | 'available' | 'refunded', number>>
  refusedCallbacks: number
  /** Of these, those of tasks that the buyer had cancelled: the agent could not know. */
  cancelledCallbacks: number
  heartbeats: { readonly passed: number; readonly failed: number }
  ledgerFaults: readonly unknown[]
  ms: number
  seed: number
  stories: boolean
}

function tell(output: CommandOutput, told: Told): number {
  const { out, notes, answer } = output
  const { lives, money: cents, refusedCallbacks, cancelledCallbacks, heartbeats, ledgerFaults } = told
  const { ms, seed, stories } = told
  const answers = lives.flatMap(({ answersMs }) => answersMs).sort((one, other) => one - other)
  const answersMs = { p50: percentile(answers, 0.5), p95: percentile(answers, 0.95) }
  const figures = {
    seed,
    ms,
    ends: endsOf(lives),
    money: cents,
    answersMs,
    refusedCallbacks,
    cancelledCallbacks,
    heartbeats,
    ledgerFaults,
  }
  answer({ ...figures, ...(stories && { lives: lives.map(({ answersMs: _, ...life }) => life) }) }, () => {
    const say = (text: string) => paragraph(out, '', text)
    if (stories)
      for (const { number, persona, story, end } of lives)
        paragraph(
          out,
          `${String(number).padStart(String(lives.length).length)}  `,
          `${persona}: ${[...story, end].join(' · ')}`,
        )
    for (const [persona, count, text] of [['character', 'tasks', 'ended as'] as const, ...rowsOf(lives)])
      paragraph(out, `${persona.padEnd(LONGEST_NAME)}  ${count.padStart(5)}  `, text)
    say(
      `Builder: ${money(cents.available)} available, ${money(cents.clearing)} clearing. Given back: ${money(cents.refunded)}.`,
    )
    say(`Held: ${money(cents.held)}${heldFor(lives)}`)
    say(`Answers of the agent: half within ${answersMs.p50} ms, 95 % within ${answersMs.p95} ms.`)
    say(
      refusedCallbacks === 0
        ? 'Refused callbacks: none.'
        : `Refused callbacks: ${refusedCallbacks}; of tasks that the buyer had cancelled: ${cancelledCallbacks}.`,
    )
    say(
      `Heartbeats: ${heartbeats.passed} passed, ${heartbeats.failed} failed. Ledger: ${ledgerFaults.length === 0 ? 'sound' : 'NOT sound'}.`,
    )
    notes.line(notes.colour.dim(`In ${durationInWords(ms)}; --seed ${seed} plays the same again.`))
  })
  return ledgerFaults.length === 0 ? exitCodes.ok : exitCodes.failed
}

const LONGEST_NAME = Math.max(...personas.map(({ name }) => name.length))

/** Where the held money stands. No rule ends such a task by time. */
function heldFor(lives: readonly Life[]): string {
  const count = (end: string) => lives.filter(life => life.end === end).length
  const open = [
    [count('delivered'), 'delivered and never approved'],
    [count('in_progress'), 'never delivered'],
    [count('pending'), 'never accepted'],
    [count('disputed'), 'disputed'],
  ] as const
  const parts = open.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`)
  if (parts.length === 0) return '.'
  return `, for tasks that are still open: ${parts.join(', ')}. Nothing ends one by time: its buyer does, or an administrator.`
}

const percentile = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0

/** By character, then by what became of its tasks. */
function endsOf(lives: readonly Life[]): Record<string, Record<string, number>> {
  const come = personas.filter(({ name }) => lives.some(({ persona }) => persona === name))
  const ends: Record<string, Record<string, number>> = Object.fromEntries(come.map(({ name }) => [name, {}]))
  for (const { persona, end } of lives) {
    ends[persona] ??= {}
    ends[persona][end ?? 'draft'] = (ends[persona][end ?? 'draft'] ?? 0) + 1
  }
  return ends
}

const rowsOf = (lives: readonly Life[]) =>
  Object.entries(endsOf(lives)).map(([persona, ends]) => [
    persona,
    String(Object.values(ends).reduce((sum, count) => sum + count, 0)),
    Object.entries(ends)
      .map(([end, count]) => `${end} ${count}`)
      .join(', '),
  ])
