/** One thing that has happened to a task: its facts, what went wrong, and in a simulator the very bytes. */
import type { ComponentChildren } from 'preact'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { Drawer } from '../parts/drawer.tsx'
import { Icon } from '../parts/icons.tsx'
import { Id } from '../parts/say.tsx'
import { Mark } from '../parts/states.tsx'
import { toast, tried } from '../parts/toasts.tsx'
import { Text, Time } from '../parts/words.tsx'
import { go, place } from '../router.ts'
import type { Me } from '../session.ts'
import { Exchange, useExchange, WhatWentWrong } from './exchange.tsx'
import type { Task } from './next.tsx'
import { type Of, type Row, sentenceOf } from './rows.ts'

interface HappeningProps {
  row: Row
  rows: readonly Row[]
  task: Task
  me: Me
  onDone: () => void
}

const close = () => {
  const from = document.getElementById(place.value.hash.slice(1))?.querySelector('a')
  go(place.value.path + location.search)
  from?.focus()
}

export function Happening({ row, rows, task, me, onDone }: HappeningProps) {
  const { of } = row
  const exchangeId = 'exchangeId' in of ? of.exchangeId : null
  const exchange = useExchange(exchangeId, rows.length)
  useActions([{ title: 'Close what is chosen', key: 'Escape', isHidden: true, run: close }])
  return (
    <Drawer label={sentenceOf(row)} title={<Title row={row} />} onClose={close}>
      <Facts row={row} />
      {'diagnosis' in of && of.diagnosis && <WhatWentWrong of={of.diagnosis} exchange={exchange.data} />}
      {row.said.some(({ text }) => text) && (
        <div class="in stack r8">
          {row.said.map(({ text, cut }, at) => (
            <p key={at} class="quote said">
              <Text>{text}</Text>
              {cut && <span class="q"> … the whole stands in Messages</span>}
            </p>
          ))}
        </div>
      )}
      {exchangeId && <Exchange {...exchange} />}
      {of.kind === 'webhook' && me.id === task.builderId && <Resend of={of} rows={rows} onDone={onDone} />}
    </Drawer>
  )
}

const Title = ({ row: { what, beside } }: { row: Row }) => (
  <>
    <Text>{what}</Text> {beside && <span class="q n">{beside}</span>}
  </>
)

function Facts({ row: { who, at, realAt, result, took, of } }: { row: Row }) {
  return (
    <div class="in stack r8">
      {result?.word && (
        <div class="row">
          <Mark
            tone={result.tone || 'mute'}
            icon={result.tone === 'bad' ? 'failed' : result.tone === 'run' ? 'half' : 'check'}
            pill
          >
            {result.word}
          </Mark>
          {result.more && <Text>{result.more}</Text>}
          {took !== null && <span class="q n">{took} ms</span>}
        </div>
      )}
      <dl class="dl">
        <dt>By</dt>
        <dd>{of.by.name ? <Text>{`${of.by.name}, ${who.toLowerCase()}`}</Text> : who}</dd>
        <dt>Market time</dt>
        <dd class="n">
          <Time at={at} ms />
        </dd>
        {realAt && (
          <>
            <dt>Real time</dt>
            <dd class="n">
              {Math.abs(Date.parse(realAt) - Date.parse(at)) < 5 ? (
                <span class="q">the same</span>
              ) : (
                <Time at={realAt} ms />
              )}
            </dd>
          </>
        )}
        {of.kind === 'webhook' && <WebhookFacts of={of} />}
        {'requestId' in of && of.requestId && (
          <Fact name="Request">
            <Id of={of.requestId} label="the request id" />
          </Fact>
        )}
      </dl>
    </div>
  )
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

const WebhookFacts = ({ of: { deliveryId, nextAttemptAt, outcome } }: { of: Of<'webhook'> }) => (
  <>
    <Fact name="Delivery">
      <Id of={deliveryId} label="the delivery id" />
    </Fact>
    {outcome === 'retry' && nextAttemptAt && (
      <Fact name="Then">
        tried again at <Time at={nextAttemptAt} />
      </Fact>
    )}
    {outcome === 'failed' && <Fact name="Then">given up</Fact>}
  </>
)

function Resend({ of, rows, onDone }: { of: Of<'webhook'>; rows: readonly Row[]; onDone: () => void }) {
  const isUnderWay = rows.some(
    ({ of: one }) => one.kind === 'webhook' && one.deliveryId === of.deliveryId && one.outcome === 'sending',
  )
  const resend = async () => {
    const sent = await tried('Not sent', () => api.redeliver({ id: of.agentId, deliveryId: of.deliveryId }))
    if (!sent) return
    toast({ tone: 'ok', word: 'Sent again', text: `${of.event}: its row comes at the end.` })
    onDone()
  }
  useActions([
    { title: `Resend ${of.event}`, key: 'r', run: resend, ...(isUnderWay && { because: 'It is under way' }) },
  ])
  return (
    <footer>
      <button type="button" class="b s" onClick={resend}>
        <Icon name="retry" />
        Resend <kbd>r</kbd>
      </button>
    </footer>
  )
}
