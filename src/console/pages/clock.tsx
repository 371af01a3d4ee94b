/** Time passes, and things go wrong, on purpose. */
import { useState } from 'preact/hooks'
import { type FaultName, faultNames, faults, targetsOf } from '../../api/faults.ts'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { Segments } from '../parts/controls.tsx'
import { Parts } from '../parts/guard.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Failed, Loading } from '../parts/say.tsx'
import { Mark } from '../parts/states.tsx'
import { tried } from '../parts/toasts.tsx'
import { span, Text, Time, timeIn, useTicks } from '../parts/words.tsx'
import { href } from '../router.ts'
import { type Clock, type ClockMove, type Due, dueIcon, dueName, dueWords, moveClock } from './due.ts'

const HOUR = 3_600_000
const SPEEDS = [
  { value: '1', word: 'as real time' },
  { value: '60', word: '60 ×' },
  { value: '3600', word: '3,600 ×' },
] as const

export default function ClockPage() {
  const clock = useData('clock', signal => api.getClock({ limit: 20 }, { signal }))
  const move = (by: ClockMove) => moveClock(by).then(clock.reload)
  const { data } = clock
  useActions([
    {
      title: 'Move the clock to what is due next',
      key: 'n',
      run: () => void move('next'),
      ...(!data?.due[0] && { because: 'Nothing is due' }),
    },
  ])
  return (
    <>
      <Head title="Clock and weather" sub={<span>Let time pass, and let things go wrong, on purpose.</span>} />
      <Card
        id="time"
        title="Market time"
        tools={
          data && (
            <>
              <span class="qq">runs</span>
              <Segments
                label="Speed"
                value={String(data.scale)}
                choices={SPEEDS}
                onChoose={scale =>
                  tried('Not changed', () => api.scaleClock({ scale: Number(scale) })).then(clock.reload)
                }
              />
            </>
          )
        }
      >
        {clock.error ? (
          <Failed what="The clock could not be read." error={clock.error} again={clock.reload} />
        ) : data ? (
          <Now clock={data} onMove={move} />
        ) : (
          <Loading />
        )}
      </Card>
      <Parts class="cols">
        <Faults />
        <Parts class="stack">
          {data && <DueNext of={data.due} onMove={move} />}
          <Buyers />
        </Parts>
      </Parts>
    </>
  )
}

interface NowProps {
  clock: Clock
  onMove: (by: ClockMove) => void
}

function Now({ clock: { now, scale, due }, onMove }: NowProps) {
  const [read] = useState(() => ({ at: Date.now(), now }))
  const [ahead, setAhead] = useState(0)
  useTicks(1000)
  const at = Date.parse(now) + (read.now === now ? (Date.now() - read.at) * scale : 0)
  return (
    <div class="in stack">
      <div class="row">
        <div>
          <div class="bigclock">{timeIn(at + ahead, at + ahead)}</div>
          <span class="q">
            {new Date(at + ahead).toDateString()}
            {ahead > 0 && ` · in ${span(ahead)}`}
          </span>
        </div>
        <div class="acts r">
          {[1, 4, 48].map(hours => (
            <button key={hours} type="button" class="b" onClick={() => onMove({ advanceMs: hours * HOUR })}>
              + {hours} h
            </button>
          ))}
          {due[0] && (
            <button type="button" class="b main-b" onClick={() => onMove('next')}>
              <Icon name="hour" />
              To the next <kbd>n</kbd>
            </button>
          )}
        </div>
      </div>
      <Ruler due={due} from={at} ahead={ahead} />
      <div class="field">
        <label for="ahead">Move the clock by hours</label>
        <input
          id="ahead"
          type="range"
          min={0}
          max={48}
          value={ahead / HOUR}
          aria-valuetext={ahead === 0 ? 'now' : `in ${span(ahead)}`}
          onInput={event => setAhead(Number(event.currentTarget.value) * HOUR)}
          onChange={() => {
            if (ahead > 0) onMove({ advanceMs: ahead })
            setAhead(0)
          }}
        />
        <p class="help">Drag to look, let go to move. The clock never goes back.</p>
      </div>
    </div>
  )
}

const AHEAD = 48 * HOUR

/** Where names stand above and below the line, and how much of its width one takes. */
const NAMES = [58, 12] as const
const NAME = 0.17

/** The next 48 hours as a line, with names where there is room. All things stand in words in the list below. */
function Ruler({ due, from, ahead }: { due: readonly Due[]; from: number; ahead: number }) {
  const free = NAMES.map(() => 0)
  return (
    <svg class="ruler" height="80" aria-hidden="true">
      <line x1="0" x2="100%" y1="40" y2="40" class="axis" />
      {due.map(one => {
        const part = Math.max(0.005, (Date.parse(one.at) - from) / AHEAD)
        if (part > 1) return null
        // At the end it stands before its dot.
        const isLast = part + NAME > 1
        const row = free.findIndex(end => part - (isLast ? NAME : 0) >= end)
        if (row >= 0) free[row] = part + (isLast ? 0 : NAME)
        return (
          <svg
            key={one.kind + one.id + one.at}
            aria-hidden="true"
            class={one.kind}
            x={`${part * 99}%`}
            overflow="visible"
          >
            {row >= 0 && (
              <>
                <line y1="40" y2={NAMES[row]! + 8} class="axis" />
                {[dueName(one), timeIn(Date.parse(one.at), from)].map((words, at) => (
                  <text key={at} x={isLast ? -6 : 6} y={NAMES[row]! + at * 15} class={isLast ? 'before' : ''}>
                    {words}
                  </text>
                ))}
              </>
            )}
            <circle cy="40" r="4.5" />
          </svg>
        )
      })}
      <line x1={`${(ahead / AHEAD) * 99.8}%`} x2={`${(ahead / AHEAD) * 99.8}%`} y1="20" y2="60" class="now" />
    </svg>
  )
}

function DueNext({ of, onMove }: { of: readonly Due[]; onMove: NowProps['onMove'] }) {
  return (
    <Card id="due" title="Due next">
      {of.length === 0 ? (
        <p class="in q">Nothing is due.</p>
      ) : (
        <ul class="lines">
          {of.map(one => (
            <li key={one.kind + one.id + one.at}>
              <Icon name={dueIcon(one)} />
              <span class="stack r0 grow">
                {one.taskId ? (
                  <a class="go cut" href={href(`/tasks/${one.taskId}`)}>
                    <Text>{dueWords(one)}</Text>
                  </a>
                ) : (
                  <span class="cut">
                    <Text>{dueWords(one)}</Text>
                  </span>
                )}
                <span class="q n">
                  <Time at={one.at} />
                </span>
              </span>
              <button type="button" class="b s up" onClick={() => onMove({ to: one.at })}>
                Go<span class="vh"> to {dueWords(one)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

const WAYS = [
  ['webhook', 'To the agent', 'any webhook'],
  ['callback', 'From the agent', 'any callback'],
] as const

/** Each goes wrong once, with the next that fits. */
function Faults() {
  const [on, setOn] = useState<Partial<Record<FaultName, string>>>({})
  const list = useData('faults', signal => api.listFaults({}, { signal }))
  const arm = (name: FaultName) =>
    tried('Not armed', () => api.armFault({ name, on: on[name] || null })).then(list.reload)
  const takeBack = (what: () => Promise<unknown>) => tried('Not taken back', what).then(list.reload)
  const waiting = list.data?.items.filter(({ taskId }) => taskId === null) ?? []
  return (
    <Card
      id="faults"
      title="Faults"
      beside={<span class="q">each happens once, to the next that fits</span>}
      tools={
        waiting.length > 0 && (
          <button type="button" class="b s" onClick={() => takeBack(() => api.clearFaults())}>
            Take back all {waiting.length}
          </button>
        )
      }
    >
      {list.error !== undefined && (
        <Failed what="The faults could not be read." error={list.error} again={list.reload} />
      )}
      <div class="scroll">
        <table aria-label="Faults">
          {WAYS.map(([direction, head, any]) => (
            <tbody key={direction}>
              <tr>
                <th scope="col">{head}</th>
                <th scope="col">On</th>
                <th scope="col" class="n">
                  State
                </th>
              </tr>
              {faultNames
                .filter(name => faults[name].direction === direction)
                .map(name => (
                  <tr key={name}>
                    <td>
                      <span class="m">{name}</span>
                      <span class="under">{faults[name].does}</span>
                    </td>
                    <td>
                      <select
                        aria-label={`${name}: on what`}
                        value={on[name] ?? ''}
                        onChange={({ currentTarget: { value } }) => setOn({ ...on, [name]: value })}
                      >
                        <option value="">{any}</option>
                        {targetsOf(name).map(target => (
                          <option key={target}>{target}</option>
                        ))}
                      </select>
                    </td>
                    <td class="n">
                      {waiting
                        .filter(fault => fault.name === name)
                        .map(fault => (
                          <span key={fault.id}>
                            <Mark tone="wait" icon="bolt">
                              waits for {fault.on ?? 'any'}
                            </Mark>{' '}
                            <button
                              type="button"
                              class="b s flat"
                              onClick={() => takeBack(() => api.clearFault({ id: fault.id }))}
                            >
                              Take back<span class="vh"> {name}</span>
                            </button>
                          </span>
                        ))}{' '}
                      <button type="button" class="b s" aria-label={`Arm ${name}`} onClick={() => arm(name)}>
                        Arm
                      </button>
                    </td>
                  </tr>
                ))}
            </tbody>
          ))}
        </table>
      </div>
    </Card>
  )
}

/** Who hires every agent again and again, until he is sent away. */
function Buyers() {
  const { data, error, reload } = useData('buyers', signal => api.listBuyers({}, { signal }))
  const set = (id: string, isHere: boolean) => tried('Not changed', () => api.setBuyer({ id, isHere })).then(reload)
  return (
    <Card id="buyers" title="Simulated buyers" beside={<span class="q">hire each agent again and again</span>}>
      {error !== undefined && <Failed what="The buyers could not be read." error={error} again={reload} />}
      <div class="choice">
        {data?.items.map(({ name, does, isHere }) => (
          <label key={name}>
            <input type="checkbox" checked={isHere} onChange={() => set(name, !isHere)} />
            <b>{name}</b>
            <span class="under">{does}</span>
          </label>
        ))}
      </div>
    </Card>
  )
}
