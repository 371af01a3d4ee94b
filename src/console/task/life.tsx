/** The life of a task as one line: its states by the logarithm of how long each was, and a tick for each webhook. */
import { taskStates } from '../parts/states.tsx'
import { type Row, short } from './rows.ts'

interface Part {
  readonly state: keyof typeof taskStates
  readonly from: number
  readonly to: number
  /** Where it stands, in percent. */
  x: number
  width: number
}

/** Room for a word at least. */
const LEAST = 9

function partsOf(rows: readonly Row[], now: number): Part[] {
  const parts: Part[] = []
  for (const { state, at } of rows) {
    const from = Date.parse(at)
    const last = parts.at(-1)
    if (last?.state === state) continue
    if (last) parts[parts.length - 1] = { ...last, to: from }
    parts.push({ state, from, to: now, x: 0, width: 0 })
  }
  const last = parts.at(-1)
  // What is over has no length that says anything.
  if (last && (last.state === 'completed' || last.state === 'cancelled'))
    parts[parts.length - 1] = { ...last, to: last.from }
  const weights = parts.map(({ from, to }) => Math.log10(1 + Math.max(0, to - from) / 50))
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  const room = 100 - LEAST * parts.length
  let x = 0
  for (const [at, part] of parts.entries()) {
    part.x = x
    part.width = LEAST + (Math.max(0, room) * weights[at]!) / (whole || 1)
    x += part.width
  }
  return parts
}

const lengthOf = ({ from, to }: Part) => (to > from ? short(to - from) : '')

/** `now` by the clock of the market. */
export function Life({ rows, now }: { rows: readonly Row[]; now: number }) {
  const parts = partsOf(rows, now)
  // More states than have room for a word: the rows say it.
  if (parts.length === 0 || parts.length * LEAST > 100) return null
  const place = (at: number) => {
    const part = parts.findLast(({ from }) => from <= at) ?? parts[0]!
    return part.x + part.width * Math.min(0.95, (at - part.from) / Math.max(1, part.to - part.from))
  }
  const words = parts.map(part => `${taskStates[part.state][2]} ${lengthOf(part)}`).join(', then ')
  return (
    <svg class="life" role="img" aria-label={words}>
      {parts.map(part => (
        <g key={part.from} class={taskStates[part.state][0]}>
          <rect x={`${part.x}%`} y="6" width={`${part.width - 0.4}%`} height="8" rx="2" />
          <text x={`${part.x}%`} y="32">
            {taskStates[part.state][2]}
          </text>
          <text x={`${part.x}%`} y="48" class="q">
            {lengthOf(part)}
          </text>
        </g>
      ))}
      {rows
        .filter(({ of }) => of.kind === 'webhook')
        .slice(-100)
        .map(row => (
          <rect
            key={row.id}
            class={row.isFailed ? 'tick bad' : 'tick'}
            x={`${place(Date.parse(row.at))}%`}
            y="1"
            width="2"
            height="18"
          />
        ))}
    </svg>
  )
}
