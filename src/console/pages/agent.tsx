/** One agent of one's own: whether buyers see it, and its five checks. */
import { useState } from 'preact/hooks'
import type { OwnAgentRecord, TestReport } from '../../api/records.ts'
import type { CallReply } from '../../client/client.ts'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { useEachChange } from '../live.ts'
import { Parts } from '../parts/guard.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Failed, Id, Note } from '../parts/say.tsx'
import { agentStates, checkStates, Mark, StateMark } from '../parts/states.tsx'
import { tried } from '../parts/toasts.tsx'
import { Age, Text, Time } from '../parts/words.tsx'
import { go, href } from '../router.ts'
import { Connection, Earnings, LastDeliveries } from './agent-cards.tsx'
import { Samples } from './samples.tsx'

const CHECKS = {
  webhook_url: 'Webhook URL',
  https: 'HTTPS',
  webhook_secret: 'Secret',
  endpoint: 'Endpoint',
  callback: 'Callback',
} as const

/** What can become of it from each state. */
const MOVES = {
  draft: ['Publish', 'publishAgent'],
  pending_review: undefined,
  verified: ['Deactivate', 'deactivateAgent'],
  active: ['Deactivate', 'deactivateAgent'],
  inactive: ['Reactivate', 'reactivateAgent'],
} as const

export function OneAgent({ agent, onChange }: { agent: OwnAgentRecord; onChange: () => void }) {
  const { id, slug, status } = agent
  const [isTesting, setTesting] = useState(false)
  const [seen, setSeen] = useState<SeenChecks>({})
  const [refusal, setRefusal] = useState('')
  const checks = useData(id, signal => api.getAgentChecks({ id }, { signal }))
  const test = async () => {
    if (isTesting) return
    setTesting(true)
    setSeen({})
    await tried('Not tested', () => api.testConnection({ id }))
    setTesting(false)
    checks.reload()
    onChange()
  }
  // What the marketplace tells of each check as it ends; the report comes once all have.
  useEachChange(({ type, agentId, what }) => {
    if (type !== 'agent' || agentId !== id) return
    const [name, status] = (what ?? '').split(' ') as [keyof typeof CHECKS, CheckStatus]
    if (name in CHECKS) setSeen(before => ({ ...before, [name]: status }))
  })
  const move = MOVES[status]
  const act = async () => {
    try {
      if (move) await api[move[1]]({ id })
      setRefusal('')
      onChange()
    } catch (error) {
      setRefusal((error as Error).message)
    }
  }
  useActions([
    { title: `Test ${slug}`, key: 't', run: test, ...(isTesting && { because: 'A test is under way' }) },
    { title: `Edit ${slug}`, key: 'e', run: () => go(`/agents/${slug}/edit`) },
    ...(move ? [{ title: `${move[0]} ${slug}`, run: act }] : []),
  ])
  return (
    <div class="stack">
      <Head
        title={agent.name}
        sub={
          <>
            <StateMark of={agentStates[status]} pill />
            <span>{agent.visible ? 'listed, buyers see it' : 'buyers do not see it'}</span>
            <Id of={id} label="the agent’s id" />
          </>
        }
        acts={
          <>
            <button type="button" class="b main-b" aria-disabled={isTesting} onClick={test}>
              <Icon name="play" />
              {isTesting ? 'Testing' : 'Test'} <kbd>t</kbd>
            </button>
            <a class="b" href={href(`/agents/${slug}/edit`)}>
              Edit <kbd>e</kbd>
            </a>
            {move && (
              <button type="button" class="b" onClick={act}>
                {move[0]}
              </button>
            )}
          </>
        }
      />
      {refusal && move && (
        <Note tone="bad" icon="failed" alert>
          <b>{move[0]} was refused.</b> {refusal}
        </Note>
      )}
      <Why of={agent} />
      {checks.error !== undefined && (
        <Failed what="The checks could not be read." error={checks.error} again={checks.reload} />
      )}
      <Checks
        of={lastOf(checks.data)}
        told={agent.diagnosis?.text}
        isTesting={isTesting}
        seen={seen}
        beats={checks.data?.heartbeats ?? []}
      />
      <Parts class="two">
        <Connection agent={agent} secretIs={checks.data?.secret ?? null} onRotate={checks.reload} />
        <Earnings id={id} agent={agent} />
        <Samples agentId={id} />
        <LastDeliveries agent={agent} />
      </Parts>
    </div>
  )
}

type AgentChecks = CallReply<'getAgentChecks'>

/** The newer of the last test by hand and the last heartbeat. */
function lastOf(checks: AgentChecks | undefined): TestReport | null {
  const [test, beat] = [checks?.tests[0], checks?.heartbeats[0]]
  return (beat && test ? (beat.testedAt > test.testedAt ? beat : test) : (test ?? beat)) ?? null
}

/** Why buyers do not see it, and what is wrong with it. */
function Why({ of: { hiddenReason, reviewReason, diagnosis, status } }: { of: OwnAgentRecord }) {
  return (
    <>
      {status === 'draft' && reviewReason && (
        <Note tone="bad" icon="flag">
          <b>It was sent back.</b> <Text>{reviewReason}</Text>
        </Note>
      )}
      {hiddenReason && (
        <Note tone="wait" icon="warning">
          <b>Buyers do not see it.</b> {hiddenReason}
        </Note>
      )}
      {diagnosis && (
        <Note tone="bad" icon="doctor">
          <b>
            <Text>{diagnosis.text}</Text>
          </b>{' '}
          <Text>{diagnosis.fix}</Text>
        </Note>
      )}
    </>
  )
}

type CheckStatus = TestReport['checks'][number]['status']
/** Of a test that is under way. */
type SeenChecks = Partial<Record<keyof typeof CHECKS, CheckStatus>>

interface ChecksProps {
  of: TestReport | null
  /** What stands above already. */
  told: string | undefined
  isTesting: boolean
  seen: SeenChecks
  beats: readonly TestReport[]
}

function Checks({ of, told, isTesting, seen, beats }: ChecksProps) {
  const first = of?.checks.find(({ status }) => status === 'failed' || status === 'warning')
  return (
    <Card
      id="checks"
      title="Five checks"
      beside={
        <span class="q">
          {isTesting ? (
            'under way, 45 s at most'
          ) : of ? (
            <>
              <Age at={of.testedAt} /> · {of.status === 'warning' ? 'passed with a warning' : of.status}
            </>
          ) : (
            'not tested yet'
          )}
        </span>
      }
    >
      <ol class="five" aria-busy={isTesting}>
        {(Object.entries(CHECKS) as [keyof typeof CHECKS, string][]).map(([name, word], at) => {
          const check = isTesting ? undefined : of?.checks.find(one => one.name === name)
          const status = isTesting ? seen[name] : check?.status
          return (
            <li key={name}>
              <span class="q n">{at + 1}</span>
              {status ? (
                <StateMark of={checkStates[status]} words={word} />
              ) : (
                <Mark tone="mute" icon={isTesting ? 'half' : 'draft'}>
                  {word}
                </Mark>
              )}
              {check && (
                <>
                  <span class="q">
                    <Text>{check.message}</Text>
                  </span>
                  <span class="q n m">{check.durationMs.toLocaleString('en')} ms</span>
                </>
              )}
            </li>
          )
        })}
      </ol>
      {first && !isTesting && of?.diagnosis && of.diagnosis.text !== told && (
        <div class="in">
          <Note tone={first.status === 'failed' ? 'bad' : 'wait'} icon="doctor">
            <Text>{of.diagnosis.text}</Text> <Text>{of.diagnosis.fix}</Text>
          </Note>
        </div>
      )}
      {beats.length > 0 && <Heartbeats of={beats} />}
    </Card>
  )
}

const Heartbeats = ({ of }: { of: readonly TestReport[] }) => (
  <div class="in row">
    <span class="qq">Heartbeats, the last at the right</span>
    <ol class="row">
      {[...of].reverse().map(({ testedAt, status }) => {
        const [tone, icon, word] = checkStates[status]
        return (
          <li key={testedAt} class={`beat ${tone}`}>
            <Icon name={icon} />
            <span class="vh">
              {word} <Time at={testedAt} />
            </span>
          </li>
        )
      })}
    </ol>
    <span class="q">
      <Age at={of[0]!.testedAt} />
    </span>
  </div>
)
