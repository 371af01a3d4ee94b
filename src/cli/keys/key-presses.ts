/** What a pressed key means, by what the person is doing: reading the log, choosing a webhook, typing a filter. Pure. */

/** As node:readline tells of it. */
export interface Press {
  /** What was typed; undefined for keys without a character. */
  readonly typed?: string | undefined
  readonly name?: string | undefined
  readonly ctrl?: boolean | undefined
}

export type Mode<Choice> =
  | { readonly is: 'reading' }
  | { readonly is: 'choosing'; readonly choices: readonly Choice[]; readonly at: number }
  | { readonly is: 'filtering'; readonly text: string }

const keys = {
  r: 'resend',
  R: 'choose',
  t: 'test',
  b: 'buyer',
  c: 'clock',
  d: 'details',
  o: 'console',
  a: 'accounts',
} as const

export type Action = (typeof keys)[keyof typeof keys]

/** What is to be done besides the change of the mode. */
export type Deed<Choice> =
  | { readonly does: Action }
  | { readonly does: 'resend chosen'; readonly choice: Choice }
  | { readonly does: 'filter'; readonly text: string }
  | { readonly does: 'help' | 'blank line' | 'quit' | 'interrupt' | 'suspend' }

interface Outcome<Choice> {
  readonly mode: Mode<Choice>
  readonly deed?: Deed<Choice>
}

const reading = { is: 'reading' } as const

export function pressed<Choice>(mode: Mode<Choice>, press: Press): Outcome<Choice> {
  const { name, ctrl } = press
  if (ctrl && name === 'c') return { mode, deed: { does: 'interrupt' } }
  if (ctrl && name === 'z') return { mode, deed: { does: 'suspend' } }
  if (mode.is === 'choosing') return whileChoosing(mode, press)
  return mode.is === 'filtering' ? whileFiltering(mode, press) : whileReading(press)
}

function whileReading<Choice>({ typed = '', name }: Press): Outcome<Choice> {
  const does = (deed: Deed<Choice>) => ({ mode: reading, deed })
  if (typed === '/') return { mode: { is: 'filtering', text: '' } }
  if (typed === '?') return does({ does: 'help' })
  if (typed === 'q') return does({ does: 'quit' })
  if (name === 'escape') return does({ does: 'filter', text: '' })
  if (name === 'return' || name === 'enter') return does({ does: 'blank line' })
  if (Object.hasOwn(keys, typed)) return does({ does: keys[typed as keyof typeof keys] })
  return { mode: reading }
}

type Choosing<Choice> = Extract<Mode<Choice>, { is: 'choosing' }>

function whileChoosing<Choice>(mode: Choosing<Choice>, { typed = '', name }: Press): Outcome<Choice> {
  const { choices, at } = mode
  const to = (next: number) => ({ mode: { ...mode, at: Math.max(0, Math.min(choices.length - 1, next)) } })
  if (typed === 'j' || name === 'down') return to(at + 1)
  if (typed === 'k' || name === 'up') return to(at - 1)
  if (name === 'escape' || typed === 'q') return { mode: reading }
  if (name !== 'return' && name !== 'enter') return { mode }
  return { mode: reading, deed: { does: 'resend chosen', choice: choices[at]! } }
}

const LONGEST_FILTER = 100

type Filtering<Choice> = Extract<Mode<Choice>, { is: 'filtering' }>

function whileFiltering<Choice>(mode: Filtering<Choice>, { typed = '', name, ctrl }: Press): Outcome<Choice> {
  const { text } = mode
  if (name === 'escape') return { mode: reading, deed: { does: 'filter', text: '' } }
  if (name === 'return' || name === 'enter') return { mode: reading, deed: { does: 'filter', text } }
  if (name === 'backspace') return { mode: { ...mode, text: [...text].slice(0, -1).join('') } }
  if (ctrl && name === 'u') return { mode: { ...mode, text: '' } }
  if (ctrl || !/^[^\p{C}]+$/u.test(typed)) return { mode }
  return { mode: { ...mode, text: (text + typed).slice(0, LONGEST_FILTER) } }
}
