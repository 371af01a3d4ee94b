/** What happens now. */
import { useActions } from '../actions.ts'
import { api, listTasks } from '../api.ts'
import { useData } from '../data.ts'
import { useChanges } from '../live.ts'
import type { PageProps } from '../page.ts'
import { Guard, Parts } from '../parts/guard.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Empty, Failed, Loading, Note } from '../parts/say.tsx'
import { StateMark, stateOfTask } from '../parts/states.tsx'
import { Age, span, Text, useTicks } from '../parts/words.tsx'
import { go, href } from '../router.ts'
import { isDev } from '../session.ts'
import { AgentsCard, DueCard, MoneyCard } from './overview-cards.tsx'
import { Stream } from './stream.tsx'

export default function Overview({ me }: PageProps) {
  useActions([{ title: 'Hire an agent', key: 'b', run: () => go('/hire') }])
  const status = useData('status', async signal => (isDev ? api.getDevStatus({}, { signal }) : null))
  useChanges(() => true, status.reload)
  return (
    <>
      <Head
        title="Overview"
        sub={
          status.data ? (
            <Guard isQuiet>
              <Facts of={status.data} />
            </Guard>
          ) : (
            <span>{location.host}</span>
          )
        }
        acts={
          <a class="b main-b" href={href('/hire')}>
            <Icon name="person" />
            Hire an agent <kbd>b</kbd>
          </a>
        }
      />
      <Guard isQuiet>{status.data && <FirstWarning of={status.data} />}</Guard>
      <Parts class="cols">
        {isDev && me.isAdmin ? <Stream /> : <LastTasks me={me} />}
        <Parts class="stack">
          {(me.isBuilder || me.isAdmin) && <AgentsCard me={me} />}
          <MoneyCard me={me} />
          {isDev && me.isAdmin && <DueCard />}
        </Parts>
      </Parts>
    </>
  )
}

type Status = Awaited<ReturnType<typeof api.getDevStatus>>

function Facts({ of: { startedAt, seed, database } }: { of: Status }) {
  useTicks()
  return (
    <>
      <span class="m">{location.origin}</span>
      <span>up for {span(Date.now() - Date.parse(startedAt))}</span>
      {seed !== null && <span>seed {seed}</span>}
      <span>
        kept in <span class="m">{database.name}</span>
      </span>
    </>
  )
}

/** The one thing to look at, if there is any: what somebody wanted to go wrong is none. */
function FirstWarning({ of: { warnings } }: { of: Status }) {
  const first = warnings.find(({ diagnosis }) => diagnosis !== null && !diagnosis.isMeant)
  if (!first) return null
  const { diagnosis, taskId } = first
  return (
    <Note tone="bad" icon="doctor">
      <b>
        <Text>{diagnosis!.text}</Text>
      </b>{' '}
      <Text>{diagnosis!.fix}</Text>{' '}
      {taskId?.startsWith('task_') && (
        <a class="link" href={href(`/tasks/${taskId}?show=failed`)}>
          See the task
        </a>
      )}
    </Note>
  )
}

function LastTasks({ me: { isAdmin } }: Pick<PageProps, 'me'>) {
  const { data, error, reload } = useData('tasks', signal => listTasks(isAdmin, { limit: 20 }, signal))
  useChanges(({ type }) => type === 'task', reload)
  return (
    <Card
      id="tasks"
      title="Tasks"
      tools={
        <a class="link" href={href('/tasks')}>
          All {data?.pagination.total}
        </a>
      }
    >
      {error ? (
        <Failed what="The tasks could not be read." error={error} again={reload} />
      ) : !data ? (
        <Loading lines={6} />
      ) : data.items.length === 0 ? (
        <Empty
          title="Nothing has happened yet"
          command={isDev ? 'npx agent-marketplace simulate buyer AGENT' : undefined}
        >
          <p>Hire an agent, and what becomes of the task appears here.</p>
        </Empty>
      ) : (
        <ul class="lines" data-list>
          {data.items.map(task => (
            <li key={task.id}>
              <StateMark of={stateOfTask(task)} pill />
              <a class="go cut grow" href={href(`/tasks/${task.id}`)}>
                <Text>{task.title}</Text>
              </a>
              <span class="q p2">{task.agent.slug}</span>
              <span class="q">
                <Age at={task.updatedAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
