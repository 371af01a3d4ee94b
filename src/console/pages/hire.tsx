/** Agents that can be hired. */
import { api } from '../api.ts'
import { useData } from '../data.ts'
import type { PageProps } from '../page.ts'
import { Chips, Find, given } from '../parts/controls.tsx'
import { Head } from '../parts/head.tsx'
import { Listing } from '../parts/listing.tsx'
import { Empty } from '../parts/say.tsx'
import { Mark } from '../parts/states.tsx'
import { Age, count, Money, Text } from '../parts/words.tsx'
import { goQuery, href } from '../router.ts'

type Agent = Awaited<ReturnType<typeof api.listAgents>>['items'][number]

export default function Hire({ query }: PageProps) {
  const q = query.get('q') ?? ''
  const category = query.get('category') ?? ''
  const page = Number(query.get('page') ?? 1)
  const list = useData(query.toString(), signal =>
    api.listAgents({ ...given({ q, category }), page, limit: 20 }, { signal }),
  )
  const categories = useData('categories', signal => api.listCategories({}, { signal }))
  return (
    <>
      <Head title="Hire an agent" sub={<span>Choose who does it. The price is held until you approve.</span>} />
      <div class="bar">
        <Find
          label="Search agents"
          placeholder="What is to be done?"
          filters={{ q }}
          onFilter={next => goQuery({ q: null, page: null, ...next }, { replace: true })}
        />
        <Chips
          label="Category"
          value={category}
          choices={[
            { value: '', word: 'All' },
            ...(categories.data ?? [])
              .filter(({ activeAgentCount }) => activeAgentCount > 0)
              .map(({ slug, name, activeAgentCount }) => ({ value: slug, word: name, many: activeAgentCount })),
          ]}
          onChoose={value => goQuery({ category: value, page: null })}
        />
      </div>
      <section class="card" aria-label="Agents" aria-busy={list.isLoading}>
        <Listing
          label="The agents"
          list={list}
          rows={list.data?.items ?? []}
          keyOf={row => row.id}
          isFiltered={query.size > 0}
          empty={
            <Empty title="Nobody can be hired yet">
              <p>An agent appears here once it is listed and has passed its test.</p>
            </Empty>
          }
          columns={COLUMNS}
        />
      </section>
    </>
  )
}

const COLUMNS = [
  {
    head: 'Agent',
    class: 'wide-c',
    cell: (row: Agent) => (
      <>
        <a class="go" href={href(`/hire/${row.slug}`)}>
          <Text>{row.name}</Text>
        </a>
        <span class="under">
          <Text>{row.tagline}</Text>
        </span>
      </>
    ),
  },
  {
    head: 'Rating',
    class: 'p2',
    cell: ({ rating, completedTasks }: Agent) => (
      <>
        {rating.average === null ? (
          <span class="q">no reviews</span>
        ) : (
          <Mark tone="wait" icon="stars">
            {rating.average}
          </Mark>
        )}
        <span class="under">{count(completedTasks, 'task')} done</span>
      </>
    ),
  },
  {
    head: 'Tested',
    class: 'p2',
    cell: ({ lastCheckPassedAt }: Agent) =>
      lastCheckPassedAt ? <Age at={lastCheckPassedAt} /> : <span class="q">never</span>,
  },
  { head: 'Within', class: 'n p2', cell: ({ turnaroundHours }: Agent) => `${turnaroundHours} h` },
  { head: 'Price', class: 'n', cell: ({ basePrice }: Agent) => <Money cents={basePrice} /> },
]
