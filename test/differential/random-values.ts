/** Chance that repeats, and the words, texts and numbers that engines might see differently. */
import * as z from 'zod'
import { seededChance } from '../../src/world/chance.ts'

/** Case, accents, composed and not, ligatures, wide forms, other scripts, wildcards, quotes, placeholders. */
const words =
  'agent Agent AGENT writes Write ärger Ärger ÄRGER A\u0308rger strasse straße STRASSE İstanbul ıstanbul ISTANBUL Ελλάς ΕΛΛΆΣ ελλας ﬁne fine Ｗｒｉｔｅｒ writer éclair e\u0301clair naïve code_review code-review codereview 100% 50%off _under %any \\back \\\\two O\'Brien "quoted" `tick` $1 $2 ? :name @p /*+x*/ -- ; NULL null nil 0 007 ½ ² 日本語 日本 🚀 👩\u200d🚀 \u{10FFFF}z \uFFFFz \u200Bzero zebra Zebra apple Äpfel Banana'.split(
    ' ',
  )

const odd = ['', ' ', '\t', '\u00a0', 'a\0b', '\ud800', '%', '_', '\\', "'", "' OR 1=1 --", '$1', '\u{1F600}'.repeat(3)]

/** Where a type, a limit or a rounding may end. */
const numbers = [
  ...[-1, 0, 1, 199, 200, 201, 1_000, 2_147_483_647, 2_147_483_648, 4_294_967_296, 999_999_999_999, 1_000_000_000_000],
  ...[1_000_000_000_001, 9_007_199_254_740_991, 9_007_199_254_740_992, 1e21, 200.5, -0, 1e-7],
]

export class Random {
  readonly #fraction: () => number

  constructor(seed: string) {
    this.#fraction = seededChance(seed).fraction
  }

  below = (count: number) => Math.floor(this.#fraction() * count)
  from = (min: number, max: number) => min + this.below(max - min + 1)
  often = (part: number) => this.#fraction() < part

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  /** Mostly one of the last. */
  recent<T>(list: readonly T[]): T | undefined {
    if (list.length === 0) return undefined
    return this.often(0.85) ? list[list.length - 1 - this.below(Math.min(12, list.length))] : this.pick(list)
  }

  weighted<T>(list: readonly (readonly [T, number])[]): T {
    let rest = this.#fraction() * list.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [value, weight] of list) {
      rest -= weight
      if (rest < 0) return value
    }
    return list.at(-1)![0]
  }

  word = () => this.pick(words)

  /** Of `min` to `max` code points. */
  text(min: number, max: number): string {
    const length = this.often(0.08) ? this.pick([min, max]) : Math.min(max, min + this.below(60))
    let text = this.word()
    while ([...text].length < length) text += this.pick([' ', ' ', ' ', '-', '\n', ', ']) + this.word()
    return [...text].slice(0, length).join('').trim().padEnd(min, '.') || '.'.repeat(Math.max(1, min))
  }

  /** Values for the texts and integers of a body that are not `given`, often. */
  others(body: z.ZodObject, given: readonly string[]): Record<string, unknown> {
    const { properties = {} } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })
    const left = Object.entries(properties as Record<string, z.core.JSONSchema.JSONSchema>).filter(
      ([name]) => !given.includes(name) && this.often(0.5),
    )
    return Object.fromEntries(left.map(([name, schema]) => [name, this.#fitting(schema)]))
  }

  #fitting({ anyOf = [], ...schema }: z.core.JSONSchema.JSONSchema): unknown {
    if (anyOf.length > 0) return this.#fitting(this.pick(anyOf) as z.core.JSONSchema.JSONSchema)
    if (schema.type === 'string') return this.text(schema.minLength ?? 0, schema.maxLength ?? 60)
    return schema.type === 'integer' ? this.from(schema.minimum!, schema.maximum!) : null
  }

  /** The beginning of a word, of several, or what is none. */
  search(): string {
    if (this.often(0.15)) return this.pick(odd.filter(text => text.isWellFormed()))
    const parts = Array.from({ length: this.from(1, 2) }, () => {
      const letters = [...this.word()]
      return letters.slice(0, this.often(0.5) ? letters.length : this.from(1, letters.length)).join('')
    })
    return parts.join(this.pick([' ', '  ', ' ', '\t']))
  }

  /** What no field expects, or one that does. */
  oddity(): unknown {
    return this.weighted<() => unknown>([
      [() => this.pick(odd), 4],
      [() => this.pick(numbers), 4],
      [() => this.pick([null, true, false, [], {}, [null], ['a', 'a'], { id: 1 }]), 3],
      [() => this.word().repeat(this.from(1, 3000)).slice(0, 60_000), 1],
      [() => String(this.pick(numbers)), 1],
    ])()
  }

  number = () => this.pick(numbers)
}
