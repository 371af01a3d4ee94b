/** What whoever is signed in can do with a task now, by its state: the most likely first. */
import { useState } from 'preact/hooks'
import { type Party, type TaskTrigger, taskEdge } from '../../api/flow.ts'
import type { CallReply, MarketplaceError } from '../../client/client.ts'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, type Refusal, useDraft } from '../parts/form.tsx'
import { Icon } from '../parts/icons.tsx'
import { toast } from '../parts/toasts.tsx'
import { units } from '../parts/words.tsx'
import { href } from '../router.ts'
import { isDev, type Me } from '../session.ts'

export type Task = CallReply<'getTask'>
type Trigger = Exclude<TaskTrigger, 'update' | 'message' | `resolve_${string}`>

interface Question {
  /** On the button; three dots are added where more is asked. */
  readonly verb: string
  readonly key?: string
  /** The question before what is final, and its answer. */
  title(task: Task): string
  act(task: Task): string
  readonly says?: string
  /** What is asked for: a text, a rating. */
  readonly text?: { readonly label: string; readonly isNeeded: boolean }
  readonly asks?: 'rating'
  readonly isBad?: true
  readonly isFinal?: true
  send(id: string, given: Given): Promise<unknown>
}

interface Given {
  readonly text: string
  readonly number: number
}

const price = ({ agreedPrice }: Task) => units(agreedPrice)
const plain = (words: string) => () => words

/** Whose part it is. In a simulator everybody may play it, as the agent would: by a callback. */
const AGENTS: readonly Trigger[] = ['accept', 'deliver', 'reject']
const BY = isDev ? 'as the agent' : 'by hand'
const SIGNED = isDev ? 'A callback is signed with the agent’s secret, and sent.' : ''

/** Throws the refusal of the callback, as of any other request. */
async function asAgent(callback: Parameters<typeof api.answerAsAgent>[0]): Promise<void> {
  const { status, error } = await api.answerAsAgent(callback)
  if (error !== null) throw Object.assign(new Error(error), { status })
}

/** In the order of how likely each is. */
const QUESTIONS: Readonly<Record<Trigger, Question>> = {
  submit: {
    verb: 'Send',
    title: task => `Send the task and hold ${price(task)}?`,
    act: task => `Send the task, hold ${price(task)}`,
    isFinal: true,
    send: id => api.submitTask({ id }),
  },
  approve: {
    verb: 'Approve',
    key: 'a',
    title: task => `Pay ${price(task)}?`,
    act: task => `Approve and pay ${price(task)}`,
    says: 'The payment clears after 48 hours. Until then you can open a dispute.',
    isFinal: true,
    send: id => api.approveTask({ id }),
  },
  accept: {
    verb: `Accept ${BY}`,
    key: 'a',
    title: plain('Accept the task?'),
    act: plain('Accept the task'),
    says: SIGNED,
    send: id => (isDev ? asAgent({ id, action: 'accept' }) : api.acceptTask({ id })),
  },
  deliver: {
    verb: `Deliver ${BY}`,
    key: 'd',
    title: plain('Deliver the work'),
    act: plain('Deliver'),
    says: SIGNED,
    text: { label: 'The work', isNeeded: true },
    send: (id, { text: content }) =>
      isDev ? asAgent({ id, action: 'deliver', content }) : api.deliverTask({ id, content }),
  },
  reject: {
    verb: `Reject ${BY}`,
    title: plain('Reject the task?'),
    act: plain('Reject the task'),
    says: `${SIGNED} What is held goes back to the buyer.`,
    text: { label: 'Why', isNeeded: false },
    isBad: true,
    send: (id, { text }) => asAgent({ id, action: 'reject', reason: text || null }),
  },
  request_revision: {
    verb: 'Ask for a revision',
    key: 'v',
    title: plain('Ask for a revision'),
    act: plain('Ask for a revision'),
    text: { label: 'What should be different', isNeeded: true },
    send: (id, { text }) => api.requestRevision({ id, reason: text }),
  },
  review: {
    verb: 'Review',
    title: plain('Review the agent'),
    act: plain('Publish the review'),
    asks: 'rating',
    text: { label: 'In words', isNeeded: false },
    send: (id, { text, number }) => api.submitReview({ id, rating: number, comment: text || null }),
  },
  dispute: {
    verb: 'Open a dispute',
    key: 'x',
    title: plain('Open a dispute'),
    act: plain('Open the dispute'),
    says: 'The money stays where it is until an administrator decides.',
    text: { label: 'What is wrong', isNeeded: true },
    isBad: true,
    send: (id, { text }) => api.disputeTask({ id, reason: text }),
  },
  cancel: {
    verb: 'Cancel the task',
    title: plain('Cancel the task?'),
    act: plain('Cancel the task'),
    says: 'What is held goes back to the buyer.',
    isBad: true,
    send: id => api.cancelTask({ id }),
  },
}

const partiesOf = (task: Task, { id, isAdmin }: Me, trigger: Trigger): Party[] => [
  ...(task.buyerId === id ? (['buyer'] as const) : []),
  ...((isDev ? AGENTS.includes(trigger) : task.builderId === id) ? (['builder'] as const) : []),
  ...(isAdmin ? (['admin'] as const) : []),
]

/** Which steps the account can take from here, by the table that the marketplace itself goes by. */
function stepsOf(task: Task, me: Me, isReviewed: boolean): Trigger[] {
  const isDisputed = task.dispute?.status === 'open'
  const isPossible = (trigger: Trigger) =>
    partiesOf(task, me, trigger).some(party => {
      const edge = taskEdge(task.status, trigger, party)
      return edge !== undefined && (isDisputed ? edge.inDispute === true : party !== 'admin')
    })
  const { maxRevisions, revisionCount, dispute } = task
  const spent: Partial<Record<Trigger, boolean>> = {
    review: isReviewed,
    dispute: dispute !== null,
    request_revision: maxRevisions !== null && revisionCount >= maxRevisions,
    // Without a simulator agents alone reject.
    reject: !isDev,
  }
  const steps = (Object.keys(QUESTIONS) as Trigger[]).filter(trigger => !spent[trigger] && isPossible(trigger))
  // One's own part first, and what ends it last.
  const rank = (trigger: Trigger) =>
    Number(QUESTIONS[trigger].isBad ?? false) * 2 + Number(me.id !== task.builderId && AGENTS.includes(trigger))
  return steps.sort((a, b) => rank(a) - rank(b))
}

interface NextProps {
  task: Task
  me: Me
  isReviewed: boolean
  onDone: () => void
}

const WORDS = 2

export function Next({ task, me, isReviewed, onDone }: NextProps) {
  const [asked, ask] = useState<Trigger>()
  const steps = stepsOf(task, me, isReviewed)
  useActions(steps.map(trigger => actionOf(trigger, () => ask(trigger))))
  return (
    <>
      {me.isAdmin && task.dispute?.status === 'open' && (
        <a class="b main-b" href={href(`/disputes/${task.id}`)}>
          <Icon name="scales" />
          Decide the dispute
        </a>
      )}
      {steps.slice(0, WORDS).map((trigger, at) => (
        <StepButton
          key={trigger}
          trigger={trigger}
          class={at === 0 && !QUESTIONS[trigger].isBad ? 'main-b' : ''}
          onAsk={() => ask(trigger)}
        />
      ))}
      {steps.length > WORDS && (
        <details class="menu">
          <summary class="b" aria-label="More">
            <Icon name="down" />
          </summary>
          <div>
            {steps.slice(WORDS).map(trigger => (
              <StepButton key={trigger} trigger={trigger} class="" onAsk={() => ask(trigger)} />
            ))}
          </div>
        </details>
      )}
      {asked && <Ask key={asked} task={task} trigger={asked} onDone={onDone} onClose={() => ask(undefined)} />}
    </>
  )
}

const actionOf = (trigger: Trigger, run: () => void) => {
  const { verb, key } = QUESTIONS[trigger]
  return { title: verb, run, ...(key && { key }) }
}

function StepButton({ trigger, class: more, onAsk }: { trigger: Trigger; class: string; onAsk: () => void }) {
  const { verb, key } = QUESTIONS[trigger]
  return (
    <button type="button" class={`b ${more}`} onClick={onAsk}>
      {verb}… {key && <kbd>{key}</kbd>}
    </button>
  )
}

interface AskProps {
  task: Task
  trigger: Trigger
  onDone: () => void
  onClose: () => void
}

function Ask({ task, trigger, onDone, onClose }: AskProps) {
  const { title, act, says, text, asks, isBad, send } = QUESTIONS[trigger]
  const { fields, typed, forget } = useDraft(`${task.id}:${trigger}`, {
    text: '',
    number: asks === 'rating' ? '5' : '',
  })
  const [wrong, setWrong] = useState<Refusal>()
  const act1 = async () => {
    try {
      await send(task.id, { text: fields.text, number: Number(fields.number) })
    } catch (error) {
      setWrong(error as Refusal)
      if (!isTooLate(error as MarketplaceError)) throw error
      // Somebody else was faster. What was written stays in its draft.
      onDone()
      toast({
        tone: 'bad',
        word: 'Not done',
        text: (error as Error).message,
        link: { href: href(`/tasks/${task.id}`), word: 'Look' },
      })
      return
    }
    forget()
    onDone()
  }
  return (
    <Dialog title={title(task)} act={act(task)} onAct={act1} onClose={onClose} {...(isBad && { isBad })}>
      {says && <p class="qq">{says}</p>}
      {asks === 'rating' && (
        <Field id="rating" label="Stars, 1 to 5" wrong={wrong}>
          {attributes => (
            <input
              {...attributes}
              name="number"
              type="number"
              min="1"
              max="5"
              required
              value={fields.number}
              onInput={typed}
            />
          )}
        </Field>
      )}
      {text && (
        <Field id="asked-text" field={textField(trigger)} label={text.label} wrong={wrong}>
          {attributes => (
            <textarea
              {...attributes}
              name="text"
              rows={5}
              required={text.isNeeded}
              value={fields.text}
              onInput={typed}
            />
          )}
        </Field>
      )}
    </Dialog>
  )
}

/** The field of the interface that the text goes into, as errors name it. */
const textField = (trigger: Trigger) =>
  trigger === 'deliver' ? 'content' : trigger === 'review' ? 'comment' : 'reason'

/** The task is no longer in the state in which this could be done. */
const isTooLate = ({ status, errors }: MarketplaceError) => status === 409 || (status === 400 && !errors)
