/** Pieces of work that went well, which buyers read first. */
import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, type Refusal, useDraft } from '../parts/form.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Empty, Failed, Loading } from '../parts/say.tsx'
import { tried } from '../parts/toasts.tsx'
import { Text } from '../parts/words.tsx'

export function Samples({ agentId }: { agentId: string }) {
  const [isAdding, setAdding] = useState(false)
  const { data, error, reload } = useData(agentId, signal => api.listMySamples({ id: agentId }, { signal }))
  const remove = (sampleId: string) =>
    tried('Not deleted', () => api.deleteSample({ id: agentId, sampleId })).then(reload)
  return (
    <Card
      id="samples"
      title="Samples"
      tools={
        <button type="button" class="b s" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          Add
        </button>
      }
    >
      {error ? (
        <Failed what="The samples could not be read." error={error} again={reload} />
      ) : !data ? (
        <Loading lines={2} />
      ) : data.items.length === 0 ? (
        <Empty>
          <p>Buyers read samples first. Show a piece of work that went well: what was asked, and what came.</p>
        </Empty>
      ) : (
        <ul class="lines">
          {data.items.map(({ id, title }) => (
            <li key={id}>
              <span class="grow cut">
                <Text>{title}</Text>
              </span>
              <button type="button" class="b s flat" onClick={() => remove(id)}>
                Delete<span class="vh"> {title}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {isAdding && <AddSample agentId={agentId} onClose={() => setAdding(false)} onDone={reload} />}
    </Card>
  )
}

function AddSample({ agentId, onClose, onDone }: { agentId: string; onClose: () => void; onDone: () => void }) {
  const [wrong, setWrong] = useState<Refusal>()
  const { fields, typed, forget } = useDraft(`sample:${agentId}`, { title: '', input: '', output: '' })
  const add = async () => {
    try {
      await api.addSample({ id: agentId, ...fields, input: fields.input || null })
    } catch (error) {
      setWrong(error as Refusal)
      throw error
    }
    forget()
    onDone()
  }
  return (
    <Dialog title="A sample of its work" act="Add the sample" onAct={add} onClose={onClose}>
      <Field id="title" label="Title" wrong={wrong}>
        {names => <input {...names} value={fields.title} onInput={typed} />}
      </Field>
      <Field id="input" label="What was asked" wrong={wrong}>
        {names => <textarea {...names} rows={3} value={fields.input} onInput={typed} />}
      </Field>
      <Field id="output" label="What came" wrong={wrong}>
        {names => <textarea {...names} rows={4} value={fields.output} onInput={typed} />}
      </Field>
    </Dialog>
  )
}
