/** What stands beside the stream: agents, money, and what falls due. */
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { useChanges } from '../live.ts'
import { Ring, type Share, ShareBar } from '../parts/controls.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Empty, Failed, Loading } from '../parts/say.tsx'
import { Listed } from '../parts/states.tsx'
import { Age, Money, marketClock, Text, units } from '../parts/words.tsx'
import { href } from '../router.ts'
import { isDev, type Me } from '../session.ts'
import { dueIcon, dueWords, moveClock } from './due.ts'

const DAY = 86_400_000
const MANY = 6

/** How much of the 24 hours is left for which a test counts. */
const shareLeft = (at: string | null) => (at ? Math.max(0, 1 - (marketClock.now() - Date.parse(at)) / DAY) : 0)

const TONES = { green: 'ok', amber: 'wait', red: 'bad' } as const

export function AgentsCard({ me }: { me: Me }) {
  const { data, error, reload } = useData('agents', async signal =>
    me.isAdmin ? api.adminListAgents({ limit: MANY }, { signal }) : api.listMyAgents({ limit: MANY }, { signal }),
  )
  useChanges(({ type }) => type === 'agent', reload)
  return (
    <Card
      id="agents"
      title="Agents"
      tools={
        !me.isAdmin && (
          <a class="link" href={href('/agents')}>
            All {data?.pagination.total}
          </a>
        )
      }
    >
      {error ? (
        <Failed what="The agents could not be read." error={error} again={reload} />
      ) : !data ? (
        <Loading lines={3} />
      ) : data.items.length === 0 ? (
        <Empty
          title="No agents yet"
          command={isDev ? 'npx agent-marketplace dev --forward-to http://localhost:3000/webhook' : undefined}
        >
          {isDev ? (
            <p>Start yours, and its webhooks come to it.</p>
          ) : (
            <a class="b" href={href('/agents/new')}>
              List an agent
            </a>
          )}
        </Empty>
      ) : (
        <ul class="lines">
          {data.items.map(agent => (
            <li key={agent.id}>
              <Ring share={shareLeft(agent.lastCheckPassedAt)} tone={TONES[agent.freshness]} />
              <span class="stack r0 grow">
                {me.isAdmin ? (
                  <b class="cut">{agent.slug}</b>
                ) : (
                  <a class="go cut" href={href(`/agents/${agent.slug}`)}>
                    {agent.slug}
                  </a>
                )}
                <span class="q">
                  {agent.lastCheckPassedAt ? (
                    <>
                      tested <Age at={agent.lastCheckPassedAt} />
                    </>
                  ) : (
                    'not tested yet'
                  )}
                </span>
              </span>
              <Listed of={agent} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

interface Line extends Share {
  readonly words: string
}

/** Where one's money is; for an administrator that of everybody, and whether it adds up. */
async function moneyOf(me: Me, signal: AbortSignal): Promise<readonly Line[]> {
  if (me.isAdmin) {
    const { sums } = await api.checkLedger({}, { signal })
    return [
      { name: 'available', words: 'Available', cents: sums.available },
      { name: 'held', words: 'Held', cents: sums.held },
      { name: 'clearing', words: 'Clearing', cents: sums.clearing },
    ]
  }
  const { wallet } = await api.getWallet({}, { signal })
  const lines: Line[] = [
    { name: 'available', words: 'Available', cents: wallet.balance },
    { name: 'held', words: 'Held for tasks', cents: wallet.heldBalance },
  ]
  if (me.isBuilder)
    lines.push({ name: 'clearing', words: 'Clearing', cents: (await api.getEarnings({}, { signal })).clearing })
  return lines
}

export function MoneyCard({ me }: { me: Me }) {
  const { data, error, reload } = useData(me.id, signal => moneyOf(me, signal))
  useChanges(({ type }) => type === 'wallet' || type === 'task', reload)
  return (
    <Card
      id="money"
      title="Money"
      tools={
        <a class="link" href={href(me.isAdmin ? '/queues' : '/wallet')}>
          {me.isAdmin ? 'Ledger' : 'Wallet'}
        </a>
      }
    >
      {error ? (
        <Failed what="The money could not be read." error={error} again={reload} />
      ) : !data ? (
        <Loading lines={3} />
      ) : (
        <div class="in stack">
          <ShareBar label={data.map(({ words, cents }) => `${words}: ${units(cents)}`).join(', ')} shares={data} />
          <div class="legend">
            {data.map(({ name, words, cents }) => (
              <>
                <svg viewBox="0 0 10 10" aria-hidden="true">
                  <rect width="10" height="10" rx="2" class={name} />
                </svg>
                <span>{words}</span>
                <Money cents={cents} tone={name === 'held' && cents > 0 ? 'held' : ''} />
              </>
            ))}
          </div>
        </div>
      )}
    </Card>
  )
}

export function DueCard() {
  const { data, error, reload } = useData('due', signal => api.getClock({ limit: MANY }, { signal }))
  useChanges(() => true, reload)
  return (
    <Card
      id="due"
      title="Due next"
      tools={
        <a class="link" href={href('/clock')}>
          Clock
        </a>
      }
    >
      {error ? (
        <Failed what="The clock could not be read." error={error} again={reload} />
      ) : !data ? (
        <Loading lines={3} />
      ) : !data.due[0] ? (
        <p class="in q">Nothing is due.</p>
      ) : (
        <>
          <ul class="lines">
            {data.due.map(one => (
              <li key={one.kind + one.id + one.at}>
                <Icon name={dueIcon(one)} />
                <span class="cut grow">
                  <Text>{dueWords(one)}</Text>
                </span>
                <span class="q n">
                  <Age at={one.at} />
                </span>
              </li>
            ))}
          </ul>
          <footer>
            <button type="button" class="b s" onClick={() => moveClock('next').then(reload)}>
              <Icon name="hour" />
              Move the clock to the next
            </button>
          </footer>
        </>
      )}
    </Card>
  )
}
