/** The same marketplace twice, one on each engine. Whatever is asked is asked of both, and every difference throws. */
import { freshDatabase } from '../support/databases.ts'
import type { WireAnswer, WireHeader } from '../support/wire.ts'
import { contentsOf } from './contents.ts'
import { answerIn, wireRequest, withoutOwn } from './in-names.ts'
import { openSide, type Side } from './side.ts'

/** One request, in names. */
export interface Request {
  method: string
  target: string
  headers: WireHeader[]
  body?: string | Buffer
  /** The name of the secret that signs the body; `ageMs`: how old the signature claims to be. */
  signed?: { secret: string; ageMs: number }
}

/** One answer, in names; the same of both. */
export interface Answer {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
  /** Of the envelope; undefined if it holds none. */
  data: unknown
}

/** The sides differ: `both` says how. */
export class Difference extends Error {}

/** Of the machine and the connection, not of the marketplace. */
const LEFT_OUT = new Set(['date', 'x-request-id', 'connection', 'keep-alive'])

/** By what both sides write alike: ids and tokens are long words. */
const orderOf = ({ to, subject, text }: Side['mails'][number]) =>
  [to, subject, text.replace(/[\w-]{20,}/g, '')].join('\n')

const byContent = (a: Side['mails'][number], b: Side['mails'][number]) => (orderOf(a) < orderOf(b) ? -1 : 1)

export class Pair {
  readonly sides: readonly [Side, Side]
  readonly #drop: () => Promise<void>
  /** How many answers and webhooks were compared. */
  compared = 0
  /** How many callbacks of connection tests were taken. */
  testCallbacks = 0

  constructor(sides: readonly [Side, Side], drop: () => Promise<void>) {
    this.sides = sides
    this.#drop = drop
  }

  get now(): number {
    return this.sides[0].world.now()
  }

  get realNow(): number {
    return this.sides[0].world.realNow()
  }

  async ask(request: Request): Promise<Answer> {
    const answers = await Promise.all(this.sides.map(side => send(side, request)))
    const [one, other] = answers.map((answer, at) => toldOf(this.sides[at]!, answer)) as [string, string]
    this.#same('the answer', one, other)
    const answer = answerIn(this.sides[0].names, answers[0]!)
    await this.settle()
    return answer
  }

  /** Waits until nothing is under way, and compares what the agents heard meanwhile. */
  async settle(): Promise<void> {
    await Promise.all(this.sides.map(side => side.settled()))
    this.testCallbacks += this.sides[0].heard.filter(({ what, status }) => what === 'callback' && status === 200).length
    const [one, other] = this.sides.map(heardBy) as [string, string]
    this.#same('what the agents heard', one, other)
    for (const { engine, errors } of this.sides) {
      if (errors.length > 0) throw new Difference(`${engine} logged an error: ${errors.join('\n')}`)
    }
  }

  /** Moves domain time alone, or both clocks, and does all that falls due. */
  async pass(ms: number, both: boolean): Promise<void> {
    for (const { world } of this.sides) both ? world.tick(ms) : world.advance(world.now() + ms)
    await this.due()
  }

  async due(): Promise<void> {
    await this.settle()
    await Promise.all(this.sides.map(side => side.runDue()))
    await this.settle()
  }

  /** The mails since the last call, each with the name of its token. Four go at once, so their order says nothing. */
  mails(): { to: string; token: string }[] {
    const [one, other] = this.sides.map(side =>
      side.mails
        .splice(0)
        .sort(byContent)
        .map(({ to, subject, text }) => {
          const token = TOKEN.exec(text)?.[0]
          const named = token === undefined ? '' : side.names.nameOf(token, 'token')
          const words = token === undefined ? text : text.replaceAll(token, named)
          return { to, token: named, text: `${subject} ${side.names.named(words)}` }
        }),
    ) as [{ to: string; token: string }[], unknown]
    this.#same('the mails', JSON.stringify(one), JSON.stringify(other))
    return one
  }

  /** Compares every row of every table, the ledger first. */
  async compareTables(only?: readonly string[]): Promise<number> {
    const [one, other] = (await Promise.all(this.sides.map(side => contentsOf(side, only)))) as [
      Map<string, string[]>,
      Map<string, string[]>,
    ]
    this.#same('the tables', [...one.keys()].join('\n'), [...other.keys()].join('\n'))
    let rows = 0
    for (const [table, lines] of one) {
      this.#same(`the table ${table}`, lines.join('\n'), other.get(table)!.join('\n'))
      rows += lines.length
    }
    return rows
  }

  async close(): Promise<void> {
    await Promise.all(this.sides.map(side => side.close()))
    await this.#drop()
  }

  #same(what: string, ...texts: [string, string]): void {
    this.compared++
    const [one, other] = texts.map(uncounted) as [string, string]
    if (one === other) return
    const [first, second] = this.sides.map(({ engine }) => engine)
    throw new Difference(`${what} differs.\n${first}:\n${around(one, other)}\n${second}:\n${around(other, one)}`)
  }
}

const TOKEN = /^[\w-]{43}$/m

export async function openPair(seed: string): Promise<Pair> {
  const database = await freshDatabase({ english: true })
  try {
    const sides = await Promise.all([openSide('embedded', seed), openSide('postgres', seed, { url: database.url })])
    return new Pair(sides, database.drop)
  } catch (error) {
    await database.drop()
    throw error
  }
}

function send(side: Side, request: Request): Promise<WireAnswer> {
  return side.exchange(...wireRequest(request, side.names, side.world.realNow()))
}

/** How many ways there are to get a secret wrong depends on its letters, and those differ. */
const uncounted = (text: string) => text.replace(/\d+ recomputations/g, 'recomputations')

/** How full the database is: of the machine too, and a Postgres has no limit of ours. */
const FILL = /"database":(?:null|\{[^}]*\}),(?="files")/

/** All that is compared of an answer. */
function toldOf({ names }: Side, { status, headers, body }: WireAnswer): string {
  const told = withoutOwn(body.replace(FILL, ''))
  const shown = Object.entries(headers).filter(
    ([name]) => !LEFT_OUT.has(name) && (told === body || name !== 'content-length'),
  )
  return names.named([status, ...shown.map(([name, value]) => `${name}: ${value}`), told].join('\n'))
}

/** By agent and task, of which every side knows the names; within them as it came. */
function heardBy({ names, heard }: Side): string {
  const key = ({ agentId, taskId }: Side['heard'][number]) => names.named(`${agentId} ${taskId}`)
  const sorted = heard.map(one => [key(one), one] as const).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  heard.length = 0
  return sorted.map(([, { what, status, text }]) => names.named(`${what} ${status} ${text}`)).join('\n')
}

/** From the line before the first that differs. */
function around(text: string, other: string): string {
  const [lines, others] = [text.split('\n'), other.split('\n')]
  const first = lines.findIndex((line, at) => line !== others[at])
  if (first === -1) return `(it ends after ${lines.length} lines)`
  return lines
    .slice(Math.max(0, first - 1), first + 3)
    .map(line => (line.length > 6_000 ? `${line.slice(0, 6_000)}…` : line))
    .join('\n')
}
