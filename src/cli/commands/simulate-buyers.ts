/** `marketplace simulate buyers`: many buyers with characters, over days that go by in moments, with one agent. */
import { randomInt } from 'node:crypto'
import { UsageError } from '../../config.ts'
import type { Life } from '../../sim/crowd.ts'
import { type Persona, personas } from '../../sim/personas.ts'
import { WHICH_AGENT, withAgentAway } from '../conformance/agent-given.ts'
import { type SecretFlags, secretGiven } from '../connection/webhook-secret.ts'
import { exitCodes } from '../exit-codes.ts'
import { numberGiven } from '../json-input.ts'
import { durationGiven, durationInWords } from '../output/durations.ts'
import { type AnswerFlags, type CommandOutput, withOutput } from '../output/output.ts'
import { showProgress } from '../output/progress.ts'
import { money } from '../output/ui.ts'

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

export const buyers = (flags: BuyersFlags): Promise<number> =>
  withOutput(flags, async output => {
    const plan = planOf(flags)
    const secret = flags.start === undefined ? await secretGiven(flags, output) : null
    const progress = await showProgress(output)
    const { simulate } = await import('../../conform/simulation.ts')
    try {
      const told = await simulate({
        ...plan,
        ...{ url: flags.url ?? null, command: flags.start ?? null, secret },
        onLife: ended => progress.wait(`${bar(ended / plan.tasks)} ${ended} of ${plan.tasks} tasks`),
      })
      progress.clear()
      return show(output, { ...told, seed: plan.seed, stories: flags.stories === true })
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
  tasks = '100',
  mix = 'easy',
  for: time = '7d',
  seed,
  timeout = '30s',
}: BuyersFlags) {
  if (start === undefined && url === undefined) throw new UsageError(WHICH_AGENT)
  const forMs = durationGiven(time)
  if (forMs > MOST.days * 86_400_000) throw new UsageError(`--for takes ${MOST.days} days at most.`)
  return {
    buyers: numberGiven('--buyers', buyers, [1, MOST.buyers]),
    tasks: numberGiven('--tasks', tasks, [1, MOST.tasks]),
    mix: mixOf(mix),
    forMs,
    seed: seed === undefined ? randomInt(MOST.seed) : numberGiven('--seed', seed, [0, MOST.seed]),
    patienceMs: durationGiven(timeout),
  }
}

/** `picky:3,ghost:1`, or `all`. */
function mixOf(text: string): { persona: Persona; share: number }[] {
  if (text === 'all') return personas.map(persona => ({ persona, share: 1 }))
  return text.split(',').map(part => {
    const [, name, share = '1'] = /^([\w-]+)(?::(\d{1,4}))?$/.exec(part) ?? []
    const persona = personas.find(one => one.name === name)
    if (persona && Number(share) > 0) return { persona, share: Number(share) }
    const known = personas.map(one => `  ${one.name.padEnd(14)} ${one.does}`).join('\n')
    throw new UsageError(`--mix takes all, or characters with their shares, as picky:3,ghost:1, not ${part}:\n${known}`)
  })
}

const WIDTH = 20
const bar = (share: number) => '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░')

interface Told {
  lives: readonly Life[]
  money: Readonly<Record<'held' | 'clearing' | 'available' | 'refunded', number>>
  refusedCallbacks: number
  heartbeats: { readonly passed: number; readonly failed: number }
  ledgerFaults: readonly unknown[]
  ms: number
  seed: number
  stories: boolean
}

function show(output: CommandOutput, told: Told): number {
  const { out, notes, answer } = output
  const { lives, money: cents, refusedCallbacks, heartbeats, ledgerFaults, ms, seed, stories } = told
  const answers = lives.flatMap(({ answersMs }) => answersMs).sort((one, other) => one - other)
  const answersMs = { p50: percentile(answers, 0.5), p95: percentile(answers, 0.95) }
  const figures = { seed, ms, ends: endsOf(lives), money: cents, answersMs, refusedCallbacks, heartbeats, ledgerFaults }
  answer({ ...figures, ...(stories && { lives: lives.map(({ answersMs: _, ...life }) => life) }) }, () => {
    if (stories)
      for (const { number, persona, story, end } of lives)
        out.line(`${number} ${persona}: ${story.join(' · ')} → ${end}`)
    out.table([['character', 'tasks', 'ended as'], ...rowsOf(lives)])
    out.line(
      `Builder: ${money(cents.available)} available, ${money(cents.clearing)} clearing. Held ${money(cents.held)}, given back ${money(cents.refunded)}.`,
    )
    out.line(
      `Answers of the agent: half within ${answersMs.p50} ms, 95 % within ${answersMs.p95} ms. Refused callbacks: ${refusedCallbacks}.`,
    )
    out.line(
      `Heartbeats: ${heartbeats.passed} passed, ${heartbeats.failed} failed. Ledger: ${ledgerFaults.length === 0 ? 'sound' : 'NOT sound'}.`,
    )
    notes.line(notes.colour.dim(`In ${durationInWords(ms)}; --seed ${seed} plays the same again.`))
  })
  return ledgerFaults.length === 0 ? exitCodes.ok : exitCodes.failed
}

const percentile = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0

/** By character, then by what became of its tasks. */
function endsOf(lives: readonly Life[]): Record<string, Record<string, number>> {
  const ends: Record<string, Record<string, number>> = {}
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
