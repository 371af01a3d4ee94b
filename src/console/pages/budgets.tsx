/** What agents may spend from one's wallet when they hire other agents. */
import { useState } from 'preact/hooks'
import type { BudgetRecord } from '../../api/money-records.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import type { PageProps } from '../page.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, type Refusal, useDraft } from '../parts/form.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Listing } from '../parts/listing.tsx'
import { Empty } from '../parts/say.tsx'
import { tried } from '../parts/toasts.tsx'
import { centsIn, Money, Text } from '../parts/words.tsx'

export default function Budgets({ query }: PageProps) {
  const page = Number(query.get('page') ?? 1)
  const [isAdding, setAdding] = useState(false)
  const [ends, setEnds] = useState<BudgetRecord>()
  const list = useData(`${page}`, signal => api.listBudgets({ page, limit: 20 }, { signal }))
  const turn = ({ id, status }: BudgetRecord) =>
    tried('Not changed', () => (status === 'active' ? api.pauseBudget({ id }) : api.resumeBudget({ id }))).then(
      list.reload,
    )
  return (
    <>
      <Head
        title="Budgets"
        sub={<span>What agents may spend from your wallet when they hire others.</span>}
        acts={
          <button type="button" class="b main-b" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            Allow an agent…
          </button>
        }
      />
      <section class="card" aria-label="Budgets">
        <Listing
          label="The budgets"
          list={list}
          rows={list.data?.items ?? []}
          keyOf={({ id }) => id}
          isFiltered={false}
          empty={
            <Empty title="No agent may spend your money">
              <p>Allow one, with limits for a task, a day and a month, and it can hire other agents for you.</p>
            </Empty>
          }
          columns={[...COLUMNS, acts(turn, setEnds)]}
        />
      </section>
      {isAdding && <AddBudget onClose={() => setAdding(false)} onDone={list.reload} />}
      {ends && (
        <Dialog
          title={`Take the budget of ${ends.agent.name} back?`}
          act="Take it back"
          isBad
          onAct={() => api.deleteBudget({ id: ends.id }).then(list.reload)}
          onClose={() => setEnds(undefined)}
        />
      )}
    </>
  )
}

const Spent = ({ spent, most }: { spent: number; most: number }) => (
  <>
    <Money cents={spent} />
    <span class="under">
      of <Money cents={most} />
    </span>
  </>
)

const COLUMNS = [
  {
    head: 'Agent',
    class: 'wide-c',
    cell: ({ agent, status }: BudgetRecord) => (
      <>
        <b>
          <Text>{agent.name}</Text>
        </b>
        <span class="under">{status}</span>
      </>
    ),
  },
  { head: 'For a task', class: 'n p2', cell: ({ maxPerTask }: BudgetRecord) => <Money cents={maxPerTask} /> },
  { head: 'Today', class: 'n', cell: (row: BudgetRecord) => <Spent spent={row.spentToday} most={row.maxDaily} /> },
  {
    head: 'This month',
    class: 'n p2',
    cell: (row: BudgetRecord) => <Spent spent={row.spentThisMonth} most={row.maxMonthly} />,
  },
]

const acts = (onTurn: (budget: BudgetRecord) => void, onEnd: (budget: BudgetRecord) => void) => ({
  head: <span class="vh">What can be done</span>,
  class: 'n',
  cell: (row: BudgetRecord) => (
    <>
      <button type="button" class="b s" onClick={() => onTurn(row)}>
        {row.status === 'active' ? 'Pause' : 'Resume'}
        <span class="vh"> {row.agent.name}</span>
      </button>
      <button type="button" class="b s flat" onClick={() => onEnd(row)}>
        Take back…<span class="vh"> {row.agent.name}</span>
      </button>
    </>
  ),
})

const EMPTY = { agent: '', maxPerTask: '10.00', maxDaily: '50.00', maxMonthly: '500.00' }

function AddBudget({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [wrong, setWrong] = useState<Refusal>()
  const { fields, typed, forget } = useDraft('budget', EMPTY)
  const add = async () => {
    try {
      const { id: agentId } = await api.getAgent({ id: fields.agent || '-' })
      const cents = (text: string) => centsIn(text) ?? 0
      const [maxPerTask, maxDaily, maxMonthly] = [fields.maxPerTask, fields.maxDaily, fields.maxMonthly].map(cents)
      await api.createBudget({ agentId, maxPerTask: maxPerTask!, maxDaily: maxDaily!, maxMonthly: maxMonthly! })
    } catch (error) {
      setWrong(error as Refusal)
      throw error
    }
    forget()
    onDone()
  }
  const amount = (id: 'maxPerTask' | 'maxDaily' | 'maxMonthly', label: string) => (
    <Field id={id} label={label} class="money-in" wrong={wrong}>
      {names => <input type="text" inputMode="decimal" {...names} value={fields[id]} onInput={typed} />}
    </Field>
  )
  return (
    <Dialog title="Which agent may spend, and how much?" act="Allow it" onAct={add} onClose={onClose}>
      <Field id="agent" label="Agent" help="Its name in addresses, or its id" wrong={wrong}>
        {names => <input type="text" {...names} value={fields.agent} onInput={typed} />}
      </Field>
      {amount('maxPerTask', 'For a task')}
      {amount('maxDaily', 'In a day')}
      {amount('maxMonthly', 'In a month')}
    </Dialog>
  )
}
