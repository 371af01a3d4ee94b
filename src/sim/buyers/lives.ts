/** The lives of a crowd: which there are, whose and when. Source: A-260. */
import type { Market } from '../../market/market.ts'
import { seededChance } from '../../world/chance.ts'
import { furnishBuyers } from '../accounts.ts'
import { type Act, verbsAs } from '../verb-calls.ts'
import type { Draw, Persona } from './persona.ts'
import { authorize, type Hearing } from './persona-accounts.ts'

export interface CrowdOptions {
  readonly market: Market
  readonly adminId: string
  readonly agent: { readonly id: string; readonly basePrice: number }
  /** How many of ten or a hundred are of each character. */
  readonly mix: readonly { readonly persona: Persona; readonly share: number }[]
  readonly buyers: number
  readonly tasks: number
  /** The time over which they come, in ms. */
  readonly forMs: number
  readonly seed: number
  /** How long the agent may take for an answer, in ms of real time. */
  readonly patienceMs: number
  /** Where agents that buy hear of what was delivered to them. */
  readonly hearing: Hearing
  /** Hears of each life that has ended, and of how many there are. */
  readonly onLife?: (ended: number) => void
}

/** One task from its beginning to its end. */
export interface Life {
  /** From 1, in the order in which they come. */
  readonly number: number
  readonly persona: string
  taskId: string | null
  /** What happened to it, in order and without times. */
  readonly story: string[]
  /** What it is at the end; null: it was never submitted. */
  end: string | null
  /** How long the agent took for each answer, in ms of real time. */
  readonly answersMs: number[]
}

interface Account {
  readonly id: string
  readonly act: Act
  /** The authorization of its agent, where that buys. */
  readonly budgetId: string | null
}

export interface Running extends Life {
  readonly buyer: Account
  readonly draw: Draw
  readonly character: Persona
  /** Where it comes from, if others come from there at once. */
  readonly address: string | null
  /** What the agent does while the buyer does something. It is told behind that, whoever was faster. */
  meanwhile: string[] | null
  /** It was submitted just now, and the agent has not answered. */
  isNew: boolean
  /** Domain time; null: it has ended, or waits for nothing that could come. */
  nextAt: number | null
}

/** What a buyer has before its first task, in cents. */
const RESERVE = 5_000
/** So many come in the same moment, as an agent has several at a time. */
const AT_ONCE = 4

/** Plans every task before the first begins. Their characters, chances and moments follow from the seed alone. */
export async function planLives(options: CrowdOptions, from: number): Promise<Running[]> {
  const { mix, tasks, forMs, seed } = options
  const accounts = new Map<string, Account>()
  const moments = Math.max(1, Math.ceil(tasks / AT_ONCE))
  const lives: Running[] = []
  while (lives.length < tasks) {
    const first = lives.length + 1
    const arrival: Draw = of => seededChance([seed, first, of].join(' ')).fraction()
    const character = chosen(mix, arrival('persona'))
    const { name: persona, atOnce } = character
    const common = {
      ...{ persona, character, buyer: await accountOf(options, accounts, character, first) },
      address: atOnce > 1 ? `crowd ${first}` : null,
      nextAt: from + Math.floor((Math.floor(arrival('arrival') * moments) / moments) * forMs),
    }
    for (let number = first; number < first + atOnce && number <= tasks; number++) {
      const draw: Draw = of => seededChance([seed, number, of].join(' ')).fraction()
      const begun = { taskId: null, end: null, meanwhile: null, isNew: false }
      lives.push({ ...common, ...begun, number, draw, story: [], answersMs: [] })
    }
  }
  return lives
}

async function accountOf(
  options: CrowdOptions,
  known: Map<string, Account>,
  { name, tier, overspends }: Persona,
  index: number,
): Promise<Account> {
  const { market, adminId, mix, buyers, hearing } = options
  const names = [`${name}-${index % Math.max(1, Math.floor(buyers / mix.length))}`]
  const there = known.get(names[0]!)
  if (there) return there
  const [made] = await furnishBuyers(market, adminId, { names, tier, funds: RESERVE })
  const { id } = made!
  const act = verbsAs(market, id)
  const budgetId = overspends && (await authorize(market, id, act, `${names[0]}-agent`, hearing))
  const account = { id, act, budgetId }
  known.set(names[0]!, account)
  return account
}

function chosen(mix: CrowdOptions['mix'], draw: number): Persona {
  const all = mix.reduce((sum, { share }) => sum + share, 0)
  let left = draw * all
  for (const { persona, share } of mix) {
    left -= share
    if (left < 0) return persona
  }
  return mix.at(-1)!.persona
}
