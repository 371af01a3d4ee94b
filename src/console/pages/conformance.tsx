/** The judge at work: all checks by area, live, and one of them in full. */
import { useEffect, useState } from 'preact/hooks'
import type { CallReply } from '../../client/client.ts'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { type Loaded, useData } from '../data.ts'
import type { PageProps } from '../page.ts'
import { Chips } from '../parts/controls.tsx'
import { Drawer, Section } from '../parts/drawer.tsx'
import { Head } from '../parts/head.tsx'
import { Icon, type IconName } from '../parts/icons.tsx'
import { Card, Command, Empty, Failed, Loading, Note } from '../parts/say.tsx'
import { Mark, type Tone } from '../parts/states.tsx'
import { tried } from '../parts/toasts.tsx'
import { span, Text, Time, useTicks } from '../parts/words.tsx'
import { go, href } from '../router.ts'

type Run = CallReply<'getConformanceRun'>
type Check = Run['checks'][number]
type Group = 'bad' | 'wait' | 'ok' | 'none' | 'next'

const groups: Readonly<Record<Group, readonly [tone: Tone | 'none', icon: IconName | null, word: string]>> = {
  bad: ['bad', 'cross', 'broken'],
  wait: ['wait', 'warning', 'warning'],
  ok: ['ok', 'tick', 'holds'],
  none: ['none', 'dash', 'not told'],
  next: ['none', null, 'to come'],
}

function groupOf({ verdict, isToCome }: Check): Group {
  if (isToCome) return 'next'
  return verdict === 'fail' ? 'bad' : verdict === 'warn' ? 'wait' : verdict === 'pass' ? 'ok' : 'none'
}

const ends = { good: 'Passed', bad: 'Failed', unsure: 'Not sure' } as const

const LOOK_MS = 1_000

export default function Conformance({ params }: PageProps) {
  const list = useData('conformance', signal => api.listConformanceRuns({}, { signal }))
  const id = params.run ?? list.data?.items[0]?.id
  if (id) return <OneRun key={id} id={id} chosen={params.check} />
  if (list.data) return <NoRun />
  return <Coming what="The runs could not be read." list={list} />
}

const Coming = ({
  what,
  list: { error, reload },
}: {
  what: string
  list: Pick<Loaded<unknown>, 'error' | 'reload'>
}) => (
  <>
    <Head title="Conformance" />
    {error ? <Failed what={what} error={error} again={reload} /> : <Loading />}
  </>
)

function NoRun() {
  return (
    <>
      <Head
        title="Conformance"
        sub={<span>Does the agent behave? A marketplace is played to it, and it is judged.</span>}
      />
      <Card id="begin" title="Judge an agent of this machine">
        <Begin />
      </Card>
    </>
  )
}

/** A button for each agent that this machine runs, or forwards to. */
function Begin() {
  const status = useData('status', signal => api.getDevStatus({}, { signal }))
  if (status.error) return <Failed what="The agents could not be read." error={status.error} again={status.reload} />
  if (!status.data) return <Loading lines={1} />
  const { agents } = status.data
  if (agents.length === 0)
    return (
      <Empty title="No agent of this machine is known" command="npx agent-marketplace dev --run 'node agent.mjs'">
        <p>The judge meets agents that dev starts, or forwards to.</p>
      </Empty>
    )
  return (
    <ul class="lines">
      {agents.map(({ agentId, slug, command, forwardTo }) => (
        <li key={agentId}>
          <span class="stack r0 grow">
            <b>{slug}</b>
            <code class="q cut">{command ?? forwardTo}</code>
          </span>
          <button type="button" class="b main-b" onClick={() => begin({ agentId })}>
            Judge<span class="vh"> {slug}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

async function begin(wanted: { agentId: string; only?: string[]; seed?: number }): Promise<void> {
  const run = await tried('Not begun', () => api.judgeAgent(wanted))
  if (run) go(`/conformance/${run.id}`)
}

function OneRun({ id, chosen }: { id: string; chosen: string | undefined }) {
  const run = useData(`run ${id}`, signal => api.getConformanceRun({ id }, { signal }))
  const { data, reload } = run
  const isRunning = data?.state === 'running'
  useEffect(() => {
    const timer = isRunning ? setInterval(reload, LOOK_MS) : 0
    return () => clearInterval(timer)
  }, [isRunning, reload])
  if (!data) return <Coming what="The run could not be read." list={run} />
  return <Judged run={data} chosen={chosen} onStop={reload} />
}

function Judged({ run, chosen, onStop }: { run: Run; chosen: string | undefined; onStop: () => void }) {
  const [shown, show] = useState<Group | 'all'>('all')
  const check = run.checks.find(one => one.id === chosen)
  const many = (group: Group) => run.checks.filter(one => groupOf(one) === group).length
  const broken = run.checks.filter(one => groupOf(one) === 'bad')
  const stop = () => tried('Not stopped', () => api.stopConformanceRun({ id: run.id })).then(onStop)
  const again = () => begin({ agentId: run.agentId, ...(run.only.length > 0 && { only: run.only }) })
  const step = (by: number) => {
    const at = broken.findIndex(one => one.id === chosen)
    const next = broken[(at + by + broken.length) % broken.length]
    if (next) go(pathOf(run, next), { replace: check !== undefined })
  }
  useActions([
    {
      title: 'Next broken check',
      key: 'j',
      run: () => step(1),
      ...(broken.length === 0 && { because: 'None is broken' }),
    },
    {
      title: 'Previous broken check',
      key: 'k',
      run: () => step(-1),
      ...(broken.length === 0 && { because: 'None is broken' }),
    },
  ])
  return (
    <>
      <Head
        title={`Conformance of ${run.agentSlug}`}
        sub={<Progress run={run} />}
        acts={<Acts run={run} onStop={stop} onAgain={again} />}
      />
      {run.state === 'failed' && (
        <Note tone="bad" icon="failed" alert>
          <b>Nothing was judged.</b> <Text>{run.text}</Text>
        </Note>
      )}
      {run.deaths.map(({ how, lastWords }) => (
        <Note key={how} tone="bad" icon="failed">
          <b>The agent ended {how}.</b> <Text>{lastWords.join(' ')}</Text>
        </Note>
      ))}
      <div class="figs card">
        <Figure many={many('bad')} word="broken" help="must: they decide" tone="bad" />
        <Figure many={many('wait')} word="warnings" help="should" tone="wait" />
        <Figure many={many('ok')} word="hold" help={`of ${run.checks.length} checks`} tone="ok" />
        <Figure many={many('none')} word="not told" help="each says why" />
        <Figure many={many('next')} word="to come" help={`${run.played} of ${run.scenarios} scenarios`} />
      </div>
      <div class={check ? 'cols wide' : ''}>
        <Card
          id="checks"
          title="Checks"
          tools={
            <Chips
              label="Show"
              value={shown}
              onChoose={show}
              choices={[
                { value: 'all', word: 'All', many: run.checks.length },
                { value: 'bad', word: 'Broken', icon: 'cross', many: many('bad') },
                { value: 'wait', word: 'Warnings', icon: 'warning', many: many('wait') },
              ]}
            />
          }
        >
          <Areas run={run} shown={shown} chosen={chosen} />
          <footer>
            <span class="row">
              {Object.values(groups).map(
                ([tone, icon, word]) =>
                  icon && (
                    <Mark key={word} tone={tone === 'none' ? 'mute' : tone} icon={icon}>
                      {word}
                    </Mark>
                  ),
              )}
            </span>
            <span class="r q">
              <kbd>j</kbd> <kbd>k</kbd> next broken
            </span>
          </footer>
        </Card>
        {check && <OneCheck run={run} check={check} />}
      </div>
    </>
  )
}

const pathOf = (run: Run, check: Check) => `/conformance/${run.id}/${check.id}`

function Progress({ run }: { run: Run }) {
  useTicks(1_000)
  const { state, outcome, text, ms, seed, startedAt } = run
  return (
    <span class="row">
      {state === 'running' ? (
        <Mark tone="run" icon="half">
          Scenario {run.played + 1} of {run.scenarios || '…'}
        </Mark>
      ) : (
        <Mark
          tone={outcome === 'good' ? 'ok' : outcome === 'bad' ? 'bad' : 'mute'}
          icon={outcome === 'good' ? 'check' : 'failed'}
        >
          <Text>{`${state === 'stopped' ? 'Stopped' : ends[outcome ?? 'unsure']}: ${text}`}</Text>
        </Mark>
      )}
      <span class="q">{span(ms)}</span>
      {seed !== null && <span class="q">seed {seed}</span>}
      <span class="q">
        <Time at={startedAt} />
      </span>
    </span>
  )
}

function Acts({ run, onStop, onAgain }: { run: Run; onStop: () => void; onAgain: () => void }) {
  if (run.state === 'running')
    return (
      <button type="button" class="b" onClick={onStop}>
        <Icon name="close" />
        Stop
      </button>
    )
  return (
    <button type="button" class="b main-b" onClick={onAgain}>
      <Icon name="retry" />
      Run again
    </button>
  )
}

const Figure = ({ many, word, help, tone = '' }: { many: number; word: string; help: string; tone?: Tone | '' }) => (
  <div>
    <div class={`fig ink ${many > 0 ? tone : ''}`}>
      {many} <small>{word}</small>
    </div>
    <span class="q">{help}</span>
  </div>
)

interface AreasProps {
  run: Run
  shown: Group | 'all'
  chosen: string | undefined
}

function Areas({ run, shown, chosen }: AreasProps) {
  return (
    <div class="areas">
      {run.areas.map(({ id, about }) => {
        const all = run.checks.filter(({ area }) => area === id)
        const some = all.filter(one => shown === 'all' || groupOf(one) === shown)
        return (
          some.length > 0 && (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
            <div key={id} class="area" role="group" aria-label={about}>
              <span class="m" title={about}>
                {id}
              </span>
              <div class="cells">
                {some.map(one => (
                  <Cell key={one.id} run={run} check={one} isChosen={one.id === chosen} />
                ))}
              </div>
              <span class="q n">
                {all.filter(one => groupOf(one) === 'ok').length} of {all.length}
              </span>
            </div>
          )
        )
      })}
    </div>
  )
}

function Cell({ run, check, isChosen }: { run: Run; check: Check; isChosen: boolean }) {
  const [tone, icon, word] = groups[groupOf(check)]
  return (
    <a
      class={`cell go ${tone}`}
      href={href(pathOf(run, check))}
      aria-label={`${check.id}: ${word}`}
      aria-current={isChosen || undefined}
      title={`${check.id}: ${check.title}`}
    >
      {icon && <Icon name={icon} />}
    </a>
  )
}

function OneCheck({ run, check }: { run: Run; check: Check }) {
  const [tone, icon, word] = groups[groupOf(check)]
  const along = run.causes.find(({ id }) => id === check.id)?.behind ?? []
  const isWrong = check.verdict === 'fail' || check.verdict === 'warn'
  return (
    <Drawer title={<span class="m">{check.id}</span>} label={check.id} onClose={() => go(`/conformance/${run.id}`)}>
      <div class="in stack">
        <p>
          <Mark tone={tone === 'none' ? 'mute' : tone} icon={icon ?? 'empty'} pill>
            {word}, a {check.level}
          </Mark>
        </p>
        <p class="lead2">
          <Text>{check.text ? (isWrong ? `The agent ${check.text}.` : check.text) : check.title}</Text>
        </p>
        {check.behind && (
          <p>
            It stands behind <a href={href(`/conformance/${run.id}/${check.behind}`)}>{check.behind}</a>.
          </p>
        )}
        <dl class="dl">
          <dt>Rule</dt>
          <dd>
            {check.law.source}: “{check.law.quote}”
          </dd>
          <dt>Why</dt>
          <dd>{check.why}</dd>
          {along.length > 0 && (
            <>
              <dt>With it</dt>
              <dd>{along.join(', ')}</dd>
            </>
          )}
        </dl>
      </div>
      {check.seen.length > 0 && (
        <Section name="What was sent, and what came">
          {check.seen.map(({ line, bytes }) => (
            <div key={line} class="stack">
              <span class="m">
                <Text>{line}</Text>
              </span>
              {bytes.length > 0 && (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
                <section class="raw" tabIndex={0} aria-label={line}>
                  <pre>
                    <Text>{bytes.join('\n')}</Text>
                  </pre>
                </section>
              )}
            </div>
          ))}
        </Section>
      )}
      {isWrong && (
        <Section name="To mend it">
          <p>{check.fix}</p>
        </Section>
      )}
      <Section name="Only this one, again">
        <button
          type="button"
          class="b"
          disabled={run.state === 'running'}
          onClick={() =>
            begin({ agentId: run.agentId, only: [check.id], ...(run.seed !== null && { seed: run.seed }) })
          }
        >
          <Icon name="retry" />
          Judge {check.id}
        </button>
        {run.command && (
          <Command>{`npx agent-marketplace conformance --start ${shellWord(run.command)} --only ${check.id}`}</Command>
        )}
      </Section>
    </Drawer>
  )
}

const shellWord = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
