/** What has happened to a task in three lanes: time flows down, and who acted is the column. Each row is one link. */
import { useRef } from 'preact/hooks'
import { Icon } from '../parts/icons.tsx'
import { Command } from '../parts/say.tsx'
import { Mark, taskStates } from '../parts/states.tsx'
import { Room, Space, useWindow } from '../parts/window.tsx'
import { Money, Text, timeIn } from '../parts/words.tsx'
import { type Advice, type Gap, isRow, type Lane, type Line, type Row, sentenceOf, short } from './rows.ts'

/** Whose time stands before the rows. */
export const CLOCKS = ['', 'real', 'elapsed'] as const
export type ClockName = (typeof CLOCKS)[number]

interface Names {
  readonly buyer: string
  readonly agent: string
}

interface LanesProps {
  lines: readonly Line[]
  names: Names
  clock: ClockName
  /** Since when time is counted, if elapsed time is shown. */
  began: string
  chosen: string | undefined
}

const keyOf = (line: Line) => ('gap' in line ? line.gap : line.id)

export const CLOCK_WORDS = { '': 'Market time', real: 'Real time', elapsed: 'Elapsed' } as const

export function Lanes({ lines, names, clock, began, chosen }: LanesProps) {
  const timeOf = clockOf(clock, began)
  const list = useRef<HTMLOListElement>(null)
  const { from, to, before, after } = useWindow(lines.map(keyOf), list, '.ev', chosen)
  return (
    <section class="card lanes" aria-label="What happened">
      <div class="lh">
        <div>{CLOCK_WORDS[clock]}</div>
        <div>
          <Icon name="person" />
          Buyer <span class="q cut">{names.buyer && <Text>{names.buyer}</Text>}</span>
        </div>
        <div>
          <Icon name="box" />
          Marketplace <span class="q cut">and ledger</span>
        </div>
        <div>
          <Icon name="agent" />
          Agent{' '}
          <span class="q cut">
            <Text>{names.agent}</Text>
          </span>
        </div>
      </div>
      <ol ref={list}>
        {before > 0 && <Room height={before} />}
        {lines
          .slice(from, to)
          .map(line =>
            isRow(line) ? (
              <Event key={line.id} row={line} time={line.isTimed ? timeOf(line) : null} isChosen={line.id === chosen} />
            ) : 'gap' in line ? (
              <GapRow key={line.gap} of={line} />
            ) : (
              <AdviceRow key={line.id} of={line} />
            ),
          )}
        {after > 0 && <Room height={after} />}
      </ol>
      <div class="ll" aria-hidden="true">
        <i />
        <i />
        <i />
        <i />
      </div>
    </section>
  )
}

/** How a row's time is shown: what of it is the same for many rows, and what is its own. */
function clockOf(clock: ClockName, began: string) {
  return ({ at, realAt }: Pick<Row, 'at' | 'realAt'>): readonly [string, string] => {
    if (clock === 'elapsed') return ['', `+${short(Math.max(0, Date.parse(at) - Date.parse(began)))}`]
    const time = clock === 'real' ? realAt : at
    if (time === null) return ['', '–']
    const words = timeIn(time, Date.parse(time), true)
    return [words.slice(0, 6), words.slice(6)]
  }
}

const railOf = (state: Row['state']) => taskStates[state][0]
const CELLS = { buyer: 'cB', market: 'cM', agent: 'cA' } as const
const ALL = ['buyer', 'market', 'agent'] as const

function Event({ row, time, isChosen }: { row: Row; time: readonly [string, string] | null; isChosen: boolean }) {
  const { id, from, to, isFailed, of, said } = row
  const kind = of.kind === 'transition' ? 'state' : of.kind
  const rest = ALL.filter(lane => lane !== from && lane !== to)
  return (
    <li
      id={`e-${id}`}
      class={`ev ${kind}${isFailed ? ' fail' : ''}${isChosen ? ' sel' : ''}`}
      aria-current={isChosen || undefined}
    >
      <span class={`t ${railOf(row.state)}`}>
        {time && (
          <span>
            <span class="hm">{time[0]}</span>
            <b>{time[1]}</b>
          </span>
        )}
      </span>
      <Actor row={row} />
      {to && <Target row={row} lane={to} />}
      {rest.map(lane => (
        <span key={lane} class={`c ${CELLS[lane]}`} />
      ))}
      {said
        .filter(({ text }) => text)
        .map(({ text, cut }, at) => (
          <span key={at} class="say-note">
            <Text>{`“${text}${cut ? '…' : ''}”`}</Text>
          </span>
        ))}
    </li>
  )
}

const Node = ({ form }: { form: 'ring' | 'dot' | 'diamond' }) => (
  <svg class="i" viewBox="0 0 16 16" aria-hidden="true">
    {form === 'diamond' ? (
      <path d="m8 2.5 5.5 5.5L8 13.5 2.5 8z" />
    ) : (
      <circle cx="8" cy="8" r="3.1" class={form === 'dot' ? 'fill' : ''} />
    )}
  </svg>
)

/** Whoever acts: a node on its line, what was done, and the wire to whom it was done. */
function Actor({ row }: { row: Row }) {
  const { id, of, from, to, icon, what, beside, result, isFailed } = row
  const isState = of.kind === 'transition'
  const goesRight = from !== 'agent'
  return (
    <span class={`c ${CELLS[from]}`}>
      {!isState && (
        <span class={`k${to && from === 'market' ? ' dot' : ''}`}>
          {of.kind === 'callback' ? (
            <Node form="diamond" />
          ) : to ? (
            <Node form={from === 'market' ? 'dot' : 'ring'} />
          ) : (
            <Icon name={icon} />
          )}
        </span>
      )}
      <span class="lab">
        <a href={`#e-${id}`} aria-label={sentenceOf(row)}>
          {isState ? (
            <Mark tone={taskStates[of.to][0]} icon={icon} pill>
              {what}
            </Mark>
          ) : of.kind === 'transfer' ? (
            <Money cents={of.amount} tone={of.to.account === 'held' ? 'held' : ''} />
          ) : (
            <Text>{what}</Text>
          )}
          {beside && <span class="q n"> {beside}</span>}
        </a>
      </span>
      {isState && result?.more && <span class="end q">{result.more}</span>}
      {to && goesRight && <span class={`wire to${isFailed ? ' x' : ''}`} />}
    </span>
  )
}

/** Whoever it was done to: what came of it. */
function Target({ row: { from, result, took }, lane }: { row: Row; lane: Lane }) {
  const isAgent = lane === 'agent'
  const tone = result?.tone || 'mute'
  return (
    <span class={`c ${CELLS[lane]}`}>
      {isAgent ? (
        <span class={`k ${tone} ink`}>
          <Icon name={tone === 'bad' ? 'failed' : tone === 'run' ? 'half' : 'check'} />
        </span>
      ) : (
        <span class="k dot">
          <Node form="dot" />
        </span>
      )}
      <span class={`end ${tone === 'bad' ? 'bad' : ''}`}>
        <b class="n">{result?.word}</b> {result?.more && <Text>{result.more}</Text>}{' '}
        {took !== null && <span class="q n">{took} ms</span>}
      </span>
      {from === 'agent' && <span class="wire fro" />}
    </span>
  )
}

const GapRow = ({ of: { words, more, state } }: { of: Gap }) => (
  <li class="ev gap">
    <span class={`t ${railOf(state)}`}>
      <Icon name="hour" />
    </span>
    <span class="c cB" />
    <span class="c cM">
      <span class="end">{words}</span>
    </span>
    <span class="c cA">{more && <span class="end">{more}</span>}</span>
  </li>
)

const AdviceRow = ({ of: { advice, id, about, state } }: { of: Advice }) => (
  <li class="ev doc" id={`e-${id}`}>
    <span class={`t ${railOf(state)}`} />
    <span class="c cB" />
    <div class="doc-note bad">
      <p class="st bad">
        <Icon name="doctor" />
        <Text>{advice.text}</Text>
      </p>
      {advice.fix && (
        <p>
          <Text>{advice.fix}</Text>
        </p>
      )}
      <p class="row">
        <a class="link" href={`#e-${about}`}>
          Compare what was sent and what came
        </a>
      </p>
      {advice.commands[0] && <Command>{`npx agent-marketplace ${advice.commands[0]}`}</Command>}
    </div>
  </li>
)

/** The same as a table, for who reads line by line. */
export function List({ lines, clock, began, chosen }: Omit<LanesProps, 'names'>) {
  const timeOf = clockOf(clock, began)
  const list = useRef<HTMLTableSectionElement>(null)
  const { from, to, before, after } = useWindow(lines.map(keyOf), list, 'tr[aria-rowindex]', chosen)
  return (
    <section class="card scroll" aria-label="What happened">
      <table aria-rowcount={lines.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">{CLOCK_WORDS[clock]}</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col" class="p2">
              To
            </th>
            <th scope="col">Result</th>
            <th scope="col" class="n p2">
              Took
            </th>
          </tr>
        </thead>
        <tbody ref={list}>
          {before > 0 && <Space height={before} columns={6} />}
          {lines.slice(from, to).map((line, at) => {
            const index = from + at + 2
            return isRow(line) ? (
              <ListRow
                key={line.id}
                row={line}
                index={index}
                time={timeOf(line).join('')}
                isChosen={line.id === chosen}
              />
            ) : (
              <Other key={keyOf(line)} line={line} index={index} />
            )
          })}
          {after > 0 && <Space height={after} columns={6} />}
        </tbody>
      </table>
    </section>
  )
}

interface ListRowProps {
  row: Row
  index: number
  time: string
  isChosen: boolean
}

function ListRow({ row, index, time, isChosen }: ListRowProps) {
  const { id, who, what, beside, to, result, took, said } = row
  return (
    <tr id={`e-${id}`} aria-rowindex={index} aria-current={isChosen || undefined}>
      <td class="m">{time}</td>
      <td>{who}</td>
      <td>
        <a class="go" href={`#e-${id}`}>
          <Text>{what}</Text>
        </a>{' '}
        <span class="q">{beside}</span>
        {said.map(
          ({ text }, at) =>
            text && (
              <span key={at} class="under">
                <Text>{text}</Text>
              </span>
            ),
        )}
      </td>
      <td class="p2">{to === 'market' ? 'marketplace' : to}</td>
      <td class={result?.tone ? `${result.tone} ink` : ''}>
        {result?.word} {result?.more && <Text>{result.more}</Text>}
      </td>
      <td class="n p2">{took !== null && `${took} ms`}</td>
    </tr>
  )
}

const Other = ({ line, index }: { line: Gap | Advice; index: number }) => (
  <tr aria-rowindex={index}>
    <td />
    <td colSpan={5} class="qq">
      {'gap' in line ? (
        `${line.words}${line.more && `: ${line.more}`}`
      ) : (
        <Text>{`${line.advice.text} ${line.advice.fix ?? ''}`}</Text>
      )}
    </td>
  </tr>
)
