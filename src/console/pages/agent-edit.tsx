/** What an agent is: its words, its price, and the URL that it is reached at. */
import { useState } from 'preact/hooks'
import type { OwnAgentRecord } from '../../api/records.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import type { PageProps } from '../page.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, type Refusal, Refused, useDraft } from '../parts/form.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Failed, Loading } from '../parts/say.tsx'
import { toast } from '../parts/toasts.tsx'
import { centsIn, units } from '../parts/words.tsx'
import { go, href } from '../router.ts'
import { isDev } from '../session.ts'

export default function AgentEdit({ params: { slug } }: PageProps) {
  const categories = useData('categories', signal => api.listCategories({}, { signal }))
  const { data, error, reload } = useData(slug ?? 'new', async signal => {
    if (!slug) return null
    const found = await api.getAgent({ id: slug }, { signal })
    if (!('webhookUrl' in found)) throw new Error('No agent of yours has this name.')
    return found
  })
  const title = slug ? `Edit ${data?.name ?? slug}` : 'List an agent'
  const failure = error ?? categories.error
  return (
    <>
      <Head
        title={title}
        crumb={
          <>
            <a href={href('/agents')}>Agents</a> <Icon name="chevron" /> <span>{slug ?? 'new'}</span>
          </>
        }
      />
      {failure ? (
        <Failed what="The form could not be made." error={failure} again={error ? reload : categories.reload} />
      ) : data === undefined || !categories.data ? (
        <Loading lines={6} />
      ) : (
        <AgentForm agent={data} categories={categories.data} />
      )}
    </>
  )
}

const EMPTY = {
  name: '',
  tagline: '',
  description: '',
  pricingModel: 'fixed',
  basePrice: '',
  categoryIds: '',
  turnaroundHours: '24',
  maxRevisions: '3',
  webhookUrl: '',
  tags: '',
}

const filled = (agent: OwnAgentRecord | null): typeof EMPTY =>
  agent
    ? {
        ...EMPTY,
        name: agent.name,
        tagline: agent.tagline,
        description: agent.description,
        pricingModel: agent.pricingModel,
        basePrice: units(agent.basePrice).replaceAll(',', ''),
        categoryIds: agent.categoryIds[0] ?? '',
        turnaroundHours: String(agent.turnaroundHours),
        maxRevisions: agent.maxRevisions === null ? '' : String(agent.maxRevisions),
        webhookUrl: agent.webhookUrl ?? '',
        tags: agent.tags.join(', '),
      }
    : EMPTY

type Categories = Awaited<ReturnType<typeof api.listCategories>>

/** Categories beyond the first stay as they are: the form shows one. */
const inputOf = (fields: typeof EMPTY, agent: OwnAgentRecord | null) => ({
  name: fields.name,
  tagline: fields.tagline,
  description: fields.description,
  pricingModel: fields.pricingModel as OwnAgentRecord['pricingModel'],
  basePrice: centsIn(fields.basePrice) ?? 0,
  categoryIds: [...new Set([fields.categoryIds, ...(agent?.categoryIds.slice(1) ?? [])])].filter(Boolean),
  turnaroundHours: Number(fields.turnaroundHours),
  maxRevisions: fields.maxRevisions === '' ? null : Number(fields.maxRevisions),
  webhookUrl: fields.webhookUrl || null,
  tags: fields.tags
    .split(',')
    .map(tag => tag.trim())
    .filter(Boolean),
})

function AgentForm({ agent, categories }: { agent: OwnAgentRecord | null; categories: Categories }) {
  const [wrong, setWrong] = useState<Refusal>()
  const [isDeleting, setDeleting] = useState(false)
  const draft = useDraft(`agent:${agent?.id ?? 'new'}`, filled(agent))
  const { fields, typed } = draft
  const save = async (event: Event) => {
    event.preventDefault()
    const input = inputOf(fields, agent)
    try {
      const { slug } = agent ? await api.updateAgent({ id: agent.id, ...input }) : await api.createAgent(input)
      draft.forget()
      toast({ tone: 'ok', word: 'Saved', text: input.name })
      go(`/agents/${slug}`)
    } catch (error) {
      setWrong(error as Refusal)
    }
  }
  const text = (id: keyof typeof EMPTY, label: string, help?: string, inputMode?: 'decimal') => (
    <Field id={id} label={label} help={help} wrong={wrong}>
      {names => <input type="text" inputMode={inputMode} {...names} value={fields[id]} onInput={typed} />}
    </Field>
  )
  return (
    <form class="card narrow" aria-label="The agent" onSubmit={save}>
      <div class="in stack">
        <Refused what="It was not saved." wrong={wrong} />
        {text('name', 'Name')}
        {text('tagline', 'In one line')}
        <Field id="description" label="What it does" wrong={wrong}>
          {names => <textarea {...names} rows={5} value={fields.description} onInput={typed} />}
        </Field>
        {text(
          'webhookUrl',
          'Webhook URL',
          `Where tasks are sent to. It must be https${isDev ? '; dev gives a forwarded one a name of its own' : ''}.`,
        )}
        <div class="two">
          {text('basePrice', 'Price', 'An amount like 12.00', 'decimal')}
          <Field id="pricingModel" label="Counted" wrong={wrong}>
            {names => (
              <select {...names} value={fields.pricingModel} onChange={typed}>
                <option value="fixed">per task</option>
                <option value="hourly">per hour</option>
                <option value="token">per token</option>
              </select>
            )}
          </Field>
          <Field id="categoryIds" label="Category" wrong={wrong}>
            {names => (
              <select {...names} value={fields.categoryIds} onChange={typed}>
                <option value="">choose one</option>
                {categories.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {text('turnaroundHours', 'Delivers within, in hours')}
          {text('maxRevisions', 'Revisions', 'Empty: as many as the buyer asks for')}
          {text('tags', 'Tags', 'With commas between them')}
        </div>
      </div>
      <footer class="acts">
        <button type="submit" class="b main-b">
          {agent ? 'Save' : 'List it as a draft'}
        </button>
        {agent && (
          <button type="button" class="b bad-b r" onClick={() => setDeleting(true)}>
            Delete…
          </button>
        )}
      </footer>
      {agent && isDeleting && <DeleteAgent agent={agent} onClose={() => setDeleting(false)} />}
    </form>
  )
}

const DeleteAgent = ({ agent: { id, name }, onClose }: { agent: OwnAgentRecord; onClose: () => void }) => (
  <Dialog
    title={`Delete ${name}?`}
    act="Delete it"
    isBad
    onAct={() => api.deleteAgent({ id }).then(() => go('/agents'))}
    onClose={onClose}
  >
    <p class="qq">Its tasks stay. It cannot be hired again, and does not come back.</p>
  </Dialog>
)
