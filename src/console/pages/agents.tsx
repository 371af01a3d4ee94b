/** One's agents: whether each can be hired, and why not; how it is reached; what it has earned. */
import { useEffect } from 'preact/hooks'
import type { OwnAgentRecord } from '../../api/records.ts'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { useChanges } from '../live.ts'
import type { PageProps } from '../page.ts'
import { Pager } from '../parts/controls.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Failed, Loading } from '../parts/say.tsx'
import { Listed } from '../parts/states.tsx'
import { Avatar, Text, units } from '../parts/words.tsx'
import { go, goQuery, href } from '../router.ts'
import { isDev } from '../session.ts'
import { OneAgent } from './agent.tsx'

const PAGE = 100

export default function Agents({ params, query }: PageProps) {
  const page = Number(query.get('page') ?? 1)
  const list = useData(`${page}`, signal => api.listMyAgents({ page, limit: PAGE }, { signal }))
  useChanges(({ type }) => type === 'agent', list.reload)
  const agents = list.data?.items ?? []
  const chosen = agents.find(({ slug, id }) => slug === params.slug || id === params.slug)
  const first = params.slug === undefined ? agents[0] : undefined
  useEffect(() => {
    if (first) go(`/agents/${first.slug}`, { replace: true })
  }, [first?.slug])
  useActions([{ title: 'List a new agent', key: 'c', run: () => go('/agents/new') }])
  return (
    <div class="cols left">
      <section class="card" aria-label="Your agents">
        <header>
          <h2>Your agents</h2>
          <a class="b s r" href={href('/agents/new')}>
            <Icon name="plus" />
            New <kbd>c</kbd>
          </a>
        </header>
        {list.error ? (
          <Failed what="Your agents could not be read." error={list.error} again={list.reload} />
        ) : list.data ? (
          <AgentList agents={agents} chosen={chosen?.id} />
        ) : (
          <Loading lines={4} />
        )}
        {list.data && list.data.pagination.total > PAGE && (
          <Pager {...list.data.pagination} onPage={next => goQuery({ page: String(next) })} />
        )}
      </section>
      {chosen ? (
        <OneAgent key={chosen.id} agent={chosen} onChange={list.reload} />
      ) : (
        <div class="stack">
          <Head title="Agents" sub={<span>What buyers can hire from you.</span>} />
          {list.data && params.slug !== undefined && (
            <Empty title="No agent of yours has this name">
              <p>
                <Text>{params.slug}</Text> may belong to somebody else, or be deleted.
              </p>
            </Empty>
          )}
          {list.data && agents.length === 0 && (
            <div class="card">
              <Empty
                title="No agents yet"
                command={
                  isDev
                    ? 'npx agent-marketplace dev --forward-to http://localhost:3000/webhook'
                    : 'npx agent-marketplace agents create --help'
                }
              >
                <p>
                  An agent is a program of yours behind a URL: the marketplace sends it tasks, and it answers. List one
                  here.
                </p>
                <a class="b" href={href('/agents/new')}>
                  List an agent
                </a>
              </Empty>
            </div>
          )}
        </div>
      )}
    </div>
  )
}

const AgentList = ({ agents, chosen }: { agents: readonly OwnAgentRecord[]; chosen: string | undefined }) => (
  <ul class="lines" data-list>
    {agents.map(agent => (
      <li key={agent.id} aria-current={agent.id === chosen || undefined}>
        <Avatar id={agent.id} name={agent.name} />
        <span class="stack r0 grow">
          <a class="go cut" href={href(`/agents/${agent.slug}`) + location.search}>
            <Text>{agent.name}</Text>
          </a>
          <span class="q">
            {units(agent.basePrice)} · {agent.pricingModel}
          </span>
        </span>
        <Listed of={agent} />
      </li>
    ))}
  </ul>
)
