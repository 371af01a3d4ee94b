/** The tasks that one has to do with; for an administrator those of everybody. */
import { useActions } from '../actions.ts'
import { api, listTasks } from '../api.ts'
import { useData } from '../data.ts'
import { useNewer } from '../live.ts'
import type { PageProps } from '../page.ts'
import { Chips, Find, given, Newer, Segments } from '../parts/controls.tsx'
import { Head } from '../parts/head.tsx'
import { Listing } from '../parts/listing.tsx'
import { Empty } from '../parts/say.tsx'
import { StateMark, stateOfTask, taskStates } from '../parts/states.tsx'
import { Age, Money, Text } from '../parts/words.tsx'
import { go, goQuery, href } from '../router.ts'
import { isDev } from '../session.ts'

const KEYS = ['agent']
type Task = Pick<
  Awaited<ReturnType<typeof api.listTasks>>['tasks'][number],
  'id' | 'title' | 'status' | 'dispute' | 'buyer' | 'agent' | 'agreedPrice' | 'updatedAt'
>

const STATES = ['', 'delivered', 'disputed', 'in_progress', 'pending', 'completed', 'cancelled', 'draft'] as const
type State = (typeof STATES)[number]
const rolesOf = ({ isAdmin, isBuilder }: PageProps['me']) => [
  { value: '' as const, word: isAdmin ? 'Everybody’s' : 'All' },
  { value: 'buyer' as const, word: 'I buy' },
  ...(isBuilder ? [{ value: 'builder' as const, word: 'My agents work' }] : []),
]

export default function Tasks({ query, me }: PageProps) {
  const text = query.toString()
  const state = (query.get('state') ?? '') as State
  const role = (query.get('role') ?? '') as '' | 'buyer' | 'builder'
  const agent = query.get('agent') ?? ''
  const q = query.get('q') ?? ''
  const page = Number(query.get('page') ?? 1)
  const search = given({ q, agent, role })
  const isOfAll = me.isAdmin && role === ''
  const list = useData(text, signal => listTasks(isOfAll, { ...search, ...shownAs(state), page, limit: 20 }, signal))
  const counts = useData(JSON.stringify(search), async signal => (isOfAll ? null : countsOf(search, signal)))
  const total = counts.data ? sumOf(counts.data) : undefined
  const [newer, show] = useNewer(
    ({ type }) => type === 'task',
    () => {
      list.reload()
      counts.reload()
    },
  )
  useActions([{ title: 'Hire an agent', key: 'b', run: () => go('/hire') }])
  return (
    <>
      <Head
        title="Tasks"
        sub={
          <span>
            What {isOfAll ? 'everybody has' : 'you have'} asked for
            {me.isBuilder && !isOfAll && ', and what your agents work on'}.
          </span>
        }
        acts={
          <a class="b main-b" href={href('/hire')}>
            Hire an agent <kbd>b</kbd>
          </a>
        }
      />
      <div class="bar">
        <Find
          label="Filter tasks"
          placeholder="Words, agent:"
          filters={{ agent, q }}
          keys={KEYS}
          onFilter={next => goQuery({ agent: null, q: null, page: null, ...next }, { replace: true })}
        />
        {(me.isBuilder || me.isAdmin) && (
          <Segments
            label="Whose"
            value={role}
            choices={rolesOf(me)}
            onChoose={value => goQuery({ role: value, page: null })}
          />
        )}
        <Chips
          label="State"
          value={state}
          choices={STATES.map(value => {
            if (value === '') return { value, word: 'All', many: total }
            const [, icon, word] = taskStates[value]
            return { value, word, icon, many: counts.data?.[value] }
          })}
          onChoose={value => goQuery({ state: value, page: null })}
        />
      </div>
      <Newer many={newer} onShow={show} />
      <section class="card" aria-label="Tasks" aria-busy={list.isLoading}>
        <Listing
          label="The tasks"
          list={list}
          rows={list.data?.items ?? []}
          keyOf={row => row.id}
          isFiltered={text !== ''}
          empty={nothing}
          columns={COLUMNS}
        />
      </section>
    </>
  )
}

/** A task in dispute is shown as that, whatever state it is in. */
const shownAs = (state: State) =>
  state === ''
    ? {}
    : state === 'disputed'
      ? { disputed: 'true' as const }
      : { status: state, disputed: 'false' as const }

type Search = Omit<Parameters<typeof api.countTasks>[0], 'disputed'>

async function countsOf(search: Search, signal: AbortSignal) {
  const [counts, inDispute] = await Promise.all(
    (['false', 'true'] as const).map(disputed => api.countTasks({ ...search, disputed }, { signal })),
  )
  return { ...counts!, disputed: sumOf(inDispute!) }
}

const sumOf = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((sum, many) => sum + many, 0)

const nothing = (
  <Empty title="No tasks yet" command={isDev ? 'npx agent-marketplace simulate buyer AGENT' : undefined}>
    <p>Hire an agent, and what becomes of the task appears here.</p>
  </Empty>
)

const COLUMNS = [
  { head: 'State', cell: (row: Task) => <StateMark of={stateOfTask(row)} pill /> },
  {
    head: 'Task',
    class: 'wide-c',
    cell: (row: Task) => (
      <>
        <a class="go" href={href(`/tasks/${row.id}`)}>
          <Text>{row.title}</Text>
        </a>
        <span class="under">
          <Text>{row.buyer.name}</Text> to {row.agent.slug}
        </span>
      </>
    ),
  },
  { head: 'Price', class: 'n', cell: (row: Task) => <Money cents={row.agreedPrice} /> },
  { head: 'Changed', class: 'n p2', cell: (row: Task) => <Age at={row.updatedAt} /> },
]
