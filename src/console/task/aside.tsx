/** Beside the lanes of a task: its money, what was asked for, and what was said. */
import { useState } from 'preact/hooks'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { Field, type Refusal, Refused, useDraft } from '../parts/form.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Empty, Failed } from '../parts/say.tsx'
import { Age, Money, Text, Time } from '../parts/words.tsx'
import type { Task } from './next.tsx'
import type { Of, Row } from './rows.ts'

export function TaskMoney({ rows, task }: { rows: readonly Row[]; task: Task }) {
  const transfers = rows.flatMap(({ of }) => (of.kind === 'transfer' ? [of] : []))
  return (
    <Card id="money" title="Money" beside={<span class="q r">agreed: {<Money cents={task.agreedPrice} />}</span>}>
      {transfers.length === 0 ? (
        <Empty>
          <p>No money has moved. It is held once the task is sent.</p>
        </Empty>
      ) : (
        <ul class="flow in">
          {transfers.map(of => (
            <Transfer key={of.id} of={of} />
          ))}
        </ul>
      )}
    </Card>
  )
}

const Transfer = ({ of: { type, from, to, amount, at } }: { of: Of<'transfer'> }) => (
  <li>
    <Icon name={to.account === 'held' ? 'clock' : to.party === 'buyer' ? 'back' : 'arrow'} />
    <span>
      {nameOf(from)} to {nameOf(to)}
      <span class="under q">
        {type}, <Time at={at} />
      </span>
    </span>
    <Money cents={amount} tone={to.account === 'held' ? 'held' : to.party === 'agent' ? 'in' : ''} />
  </li>
)

const nameOf = ({ account, party }: Of<'transfer'>['from']) =>
  account === 'held' || party === 'marketplace' ? account : `${party === 'agent' ? 'builder' : party}, ${account}`

export const Asked = ({ task: { description, requirements } }: { task: Task }) => (
  <Card id="asked" title="What was asked for">
    <div class="in stack r8">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section class="work" tabIndex={0} aria-label="Description">
        <Text>{description}</Text>
      </section>
      {requirements && (
        <p class="said qq">
          <Text>{requirements}</Text>
        </p>
      )}
    </div>
  </Card>
)

interface MessagesProps {
  task: Task
  /** Another one is there when it changes. */
  version: string
  mayWrite: boolean
  onSent: () => void
}

export function Messages({ task, version, mayWrite, onSent }: MessagesProps) {
  const { data, error, reload } = useData(
    task.id,
    signal => api.listMessages({ id: task.id, limit: 100 }, { signal }),
    version,
  )
  return (
    <Card
      id="messages"
      title="Messages"
      beside={<span class="q r">{data ? data.pagination.total || 'none' : ''}</span>}
    >
      {error ? (
        <Failed what="The messages could not be read." error={error} again={reload} />
      ) : (
        data && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
          <ul class="talk" tabIndex={0} aria-labelledby="messages">
            {data.items.map(({ id, senderRole, content, createdAt }) => (
              <li key={id}>
                <span class="q">
                  {WHO[senderRole]}, <Age at={createdAt} />
                </span>
                <p>
                  <Text>{content}</Text>
                </p>
              </li>
            ))}
          </ul>
        )
      )}
      {mayWrite && <Write task={task} onSent={onSent} />}
    </Card>
  )
}

const WHO = { buyer: 'Buyer', agent: 'Agent', system: 'Marketplace' } as const

function Write({ task, onSent }: { task: Task; onSent: () => void }) {
  const { fields, typed, forget } = useDraft(`${task.id}:message`, { content: '' })
  const [wrong, setWrong] = useState<Refusal>()
  useActions([{ title: 'Write a message', key: 'm', run: () => document.getElementById('content')?.focus() }])
  const send = async (event: Event) => {
    event.preventDefault()
    try {
      await api.sendMessage({ id: task.id, content: fields.content })
      setWrong(undefined)
      forget()
      onSent()
    } catch (error) {
      setWrong(error as Refusal)
    }
  }
  return (
    <form class="in stack r8" onSubmit={send}>
      <Refused what="Not sent." wrong={wrong} />
      <Field id="content" label={<span class="vh">A message</span>} wrong={wrong}>
        {attributes => (
          <textarea
            {...attributes}
            rows={2}
            required
            placeholder="Write a message"
            value={fields.content}
            onInput={typed}
          />
        )}
      </Field>
      <button type="submit" class="b s r">
        Send
      </button>
    </form>
  )
}
