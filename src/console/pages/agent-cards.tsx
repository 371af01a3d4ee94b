/** Below the checks of an agent: how it is reached, what it has earned, what was sent to it last. */
import { useState } from 'preact/hooks'
import type { OwnAgentRecord } from '../../api/records.ts'
import type { CallReply } from '../../client/client.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { Attempts } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Copy, Empty, Failed, Loading, Note } from '../parts/say.tsx'
import { deliveryStates, StateMark } from '../parts/states.tsx'
import { toast } from '../parts/toasts.tsx'
import { Age, count, Text, Time, units } from '../parts/words.tsx'
import { href } from '../router.ts'
import { isDev } from '../session.ts'
import { isTaken } from './delivery.tsx'

interface ConnectionProps {
  agent: OwnAgentRecord
  secretIs: CallReply<'getAgentChecks'>['secret'] | null
  onRotate: () => void
}

export function Connection({ agent: { id, slug, webhookUrl, hasWebhookSecret }, secretIs, onRotate }: ConnectionProps) {
  const dev = useData('dev', async signal => (isDev ? api.getDevStatus({}, { signal }) : null))
  const own = dev.data?.agents.find(({ agentId }) => agentId === id)
  const [isAsked, setAsked] = useState(false)
  const [secret, setSecret] = useState('')
  const hasSecret = hasWebhookSecret || secret !== ''
  const [isShown, setShown] = useState(false)
  const rotate = async () => {
    const next = await api.rotateSecret({ id })
    setSecret(next.secret)
    onRotate()
    await navigator.clipboard?.writeText(next.secret).then(
      () => toast({ tone: 'ok', word: 'Copied', text: 'The new secret is on your clipboard.' }),
      () => setShown(true),
    )
  }
  return (
    <Card id="connection" title="Connection">
      <div class="in stack r8">
        <dl class="dl">
          <dt>Webhook</dt>
          <dd class="m">{webhookUrl ? <Text>{webhookUrl}</Text> : <span class="q">no URL yet</span>}</dd>
          {own && (
            <>
              <dt>Forwards to</dt>
              <dd class="m">{own.forwardTo}</dd>
              {own.command && (
                <>
                  <dt>Runs</dt>
                  <dd>
                    <span class="m">{own.command}</span>{' '}
                    <span class="q">{own.isUp && own.pid !== null ? `process ${own.pid}` : 'not up'}</span>
                  </dd>
                </>
              )}
            </>
          )}
          <dt>Secret</dt>
          <dd>
            {hasSecret ? <span class="m">whsec_••••••••</span> : <span class="q">none yet</span>}
            {secretIs && (
              <span class="q">
                {' '}
                fingerprint <span class="m">{secretIs.fingerprint}</span>, since <Time at={secretIs.since} />
              </span>
            )}
          </dd>
          <dt>Signed</dt>
          <dd>
            HMAC-SHA-256 in hex, with the secret, of <span class="m">X-Service-Timestamp</span>, a dot and the raw body
          </dd>
          {secretIs?.previousUntil && (
            <>
              <dt>The one before</dt>
              <dd>
                counts for callbacks until <Time at={secretIs.previousUntil} />
              </dd>
            </>
          )}
        </dl>
        {secret ? (
          <>
            <Note tone="wait" icon="key">
              <b>Keep the new secret now.</b> It is not kept here, and not shown again once you leave.
              {isShown && <div class="m">{secret}</div>}
            </Note>
            <div class="row">
              {!isShown && (
                <button type="button" class="b s" onClick={() => setShown(true)}>
                  Show it
                </button>
              )}
              <Copy text={secret} label="the secret">
                Copy again
              </Copy>
            </div>
          </>
        ) : (
          <div class="row">
            <button type="button" class="b s" onClick={() => setAsked(true)}>
              <Icon name="key" />
              {hasSecret ? 'Rotate and copy…' : 'Make one and copy…'}
            </button>
            <span class="q">It is copied without being shown.</span>
          </div>
        )}
      </div>
      {isAsked && (
        <Dialog
          title={`A new secret for ${slug}?`}
          act={hasSecret ? 'Rotate and copy' : 'Make one and copy'}
          onAct={rotate}
          onClose={() => setAsked(false)}
        >
          <p class="qq">
            Webhooks are signed with {hasSecret ? 'the new one at once. The old one stops to count.' : 'it.'}
          </p>
        </Dialog>
      )}
    </Card>
  )
}

export function Earnings({ id, agent: { completedTasks, rating } }: { id: string; agent: OwnAgentRecord }) {
  const { data, error, reload } = useData('earnings', signal => api.getEarnings({}, { signal }))
  const own = data?.byAgent.find(({ agentId }) => agentId === id)
  return (
    <Card
      id="earnings"
      title="Earnings"
      tools={
        <a class="link" href={href('/wallet?type=earning')}>
          Ledger
        </a>
      }
    >
      {error ? (
        <Failed what="The earnings could not be read." error={error} again={reload} />
      ) : (
        <div class="in figs" aria-busy={!data}>
          <div>
            <div class="fig">{units(own?.earned ?? 0)}</div>
            <span class="q">earned</span>
          </div>
          <div>
            <div class="fig">{units(own?.held ?? 0)}</div>
            <span class="q">held</span>
          </div>
          <div>
            <div class="fig">{units(own?.inDispute ?? 0)}</div>
            <span class="q">in dispute</span>
          </div>
        </div>
      )}
      <footer>
        {count(completedTasks, 'completed task')} ·{' '}
        {rating.average === null ? 'no reviews' : `${rating.average} of 5 from ${count(rating.count, 'review')}`}
      </footer>
    </Card>
  )
}

export function LastDeliveries({ agent: { id, slug } }: { agent: OwnAgentRecord }) {
  const { data, error, reload } = useData(id, signal => api.listDeliveries({ id, limit: 5 }, { signal }))
  return (
    <Card
      id="deliveries"
      title="Last deliveries"
      tools={
        <a class="link" href={href(`/deliveries?agent=${slug}`)}>
          All {data?.pagination.total}
        </a>
      }
    >
      {error ? (
        <Failed what="The deliveries could not be read." error={error} again={reload} />
      ) : !data ? (
        <Loading />
      ) : data.items.length === 0 ? (
        <Empty>
          <p>Nothing was sent to it yet.</p>
        </Empty>
      ) : (
        <ul class="lines">
          {data.items.map(delivery => (
            <li key={delivery.id}>
              <StateMark of={deliveryStates[delivery.status]} />
              <a class="go m" href={href(`/deliveries/${delivery.id}?agent=${slug}`)}>
                {delivery.event}
              </a>
              <Attempts results={delivery.attempts.map(isTaken)} total={delivery.attemptCount} />
              <span class="q r">
                <Age at={delivery.createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
