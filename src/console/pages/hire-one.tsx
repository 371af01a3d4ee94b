/** One agent is hired: the task in words, and where the money goes, step by step. */
import { useState } from 'preact/hooks'
import type { AgentRecord } from '../../api/records.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import type { PageProps } from '../page.ts'
import { Field, type Refusal, Refused, useDraft } from '../parts/form.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Failed, Loading } from '../parts/say.tsx'
import { tried } from '../parts/toasts.tsx'
import { centsIn, Money, Text, units } from '../parts/words.tsx'
import { go, href } from '../router.ts'

export default function HireOne({ params: { slug = '' } }: PageProps) {
  const agent = useData(slug, signal => api.getAgent({ id: slug }, { signal }))
  return (
    <>
      <Head
        title={`Hire ${agent.data?.name ?? slug}`}
        crumb={
          <>
            <a href={href('/hire')}>Hire</a> <Icon name="chevron" /> <span>{slug}</span>
          </>
        }
      />
      {agent.error ? (
        <Failed what="The agent could not be read." error={agent.error} again={agent.reload} />
      ) : agent.data ? (
        <Hiring key={agent.data.id} agent={agent.data} />
      ) : (
        <Loading lines={6} />
      )}
    </>
  )
}

function Hiring({ agent }: { agent: AgentRecord }) {
  const [wrong, setWrong] = useState<Refusal>()
  const [isBusy, setBusy] = useState(false)
  const wallet = useData('wallet', signal => api.getWallet({}, { signal }))
  const draft = useDraft(`hire:${agent.id}`, {
    title: '',
    description: '',
    requirements: '',
    agreedPrice: units(agent.basePrice).replaceAll(',', ''),
  })
  const { fields } = draft
  const price = centsIn(fields.agreedPrice)
  const balance = wallet.data?.wallet.balance
  const missing = balance !== undefined && price !== null ? price - balance : 0
  const send = async (isSent: boolean) => {
    if (isBusy) return
    setBusy(true)
    try {
      const { title, description, requirements } = fields
      const { id } = await api.createTask({
        agentId: agent.id,
        title,
        description,
        requirements: requirements || null,
        agreedPrice: price ?? 0,
      })
      // It is kept as a draft from now on: if sending it is refused, its page has it, to be sent again.
      draft.forget()
      if (isSent) await tried('Not sent', () => api.submitTask({ id }))
      go(`/tasks/${id}`)
    } catch (error) {
      setWrong(error as Refusal)
      setBusy(false)
    }
  }
  return (
    <div class="cols">
      <form
        class="card"
        aria-label="The task"
        onSubmit={event => {
          event.preventDefault()
          void send(true)
        }}
      >
        <div class="in stack">
          <Refused what="The task was not sent." wrong={wrong} />
          <TaskFields fields={fields} typed={draft.typed} wrong={wrong} agent={agent} />
        </div>
        <footer class="acts">
          <button type="submit" class="b main-b" aria-disabled={isBusy}>
            Send the task{price !== null && `, hold ${units(price)}`}
          </button>
          <button type="button" class="b" onClick={() => send(false)}>
            Keep as a draft
          </button>
          {missing > 0 && (
            <span class="r">
              {units(missing)} is missing.{' '}
              <a class="link" href={href('/wallet')}>
                Put money in
              </a>
            </span>
          )}
        </footer>
      </form>
      <Flow price={price ?? 0} balance={balance} agent={agent} />
    </div>
  )
}

interface TaskFieldsProps {
  fields: Readonly<Record<'title' | 'description' | 'requirements' | 'agreedPrice', string>>
  typed: (event: { currentTarget: { name: string; value: string } }) => void
  wrong: Refusal | undefined
  agent: AgentRecord
}

const TaskFields = ({ fields, typed, wrong, agent }: TaskFieldsProps) => (
  <>
    <Field id="title" label="Title" wrong={wrong}>
      {names => <input type="text" {...names} value={fields.title} onInput={typed} />}
    </Field>
    <Field id="description" label="What is to be done" wrong={wrong}>
      {names => <textarea {...names} rows={6} value={fields.description} onInput={typed} />}
    </Field>
    <Field
      id="requirements"
      label={
        <>
          Requirements <span class="q">may be left out</span>
        </>
      }
      wrong={wrong}
    >
      {names => <textarea {...names} rows={2} value={fields.requirements} onInput={typed} />}
    </Field>
    <Field
      id="agreedPrice"
      label="Price"
      class="money-in"
      help={`Its price is ${units(agent.basePrice)}. You may offer another; it may reject.`}
      wrong={wrong}
    >
      {names => <input type="text" inputMode="decimal" {...names} value={fields.agreedPrice} onInput={typed} />}
    </Field>
  </>
)

/** Where the money goes: no step is left to guess. */
function Flow({ price, balance, agent }: { price: number; balance: number | undefined; agent: AgentRecord }) {
  const { maxRevisions, turnaroundHours } = agent
  const rounds = maxRevisions === null ? 'as often as you like' : `${maxRevisions} times at most`
  return (
    <div class="stack">
      <Card id="flow" title={`Where the ${units(price)} goes`}>
        <div class="in">
          <ol class="flow">
            <li>
              <Icon name="coin" />
              <span>
                <b>Now:</b> from available to held
                {balance !== undefined && (
                  <>
                    <br />
                    <span class="q n">
                      {units(Math.max(0, balance - price))} of {units(balance)} stay available
                    </span>
                  </>
                )}
              </span>
              <Money cents={price} tone="held" />
            </li>
            <li>
              <Icon name="half" />
              <span>
                <b>It accepts</b>, or you cancel and get it all back
              </span>
            </li>
            <li>
              <Icon name="give" />
              <span>
                <b>It delivers</b> within {turnaroundHours} h. You approve, or ask for changes, {rounds}
              </span>
            </li>
            <li>
              <Icon name="full" />
              <span>
                <b>You approve:</b> it is paid
              </span>
              <Money cents={price} />
            </li>
          </ol>
        </div>
      </Card>
      <Card id="who" title={<Text>{agent.name}</Text>}>
        <div class="in">
          <p>
            <Text>{agent.tagline}</Text>
          </p>
        </div>
      </Card>
    </div>
  )
}
