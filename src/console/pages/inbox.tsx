/** Notifications, and in a simulator the mails that a server would have sent. */
import type { NotificationRecord } from '../../api/records.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { useChanges, useNewer } from '../live.ts'
import type { PageProps } from '../page.ts'
import { Chips, Newer } from '../parts/controls.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Listing } from '../parts/listing.tsx'
import { Card, Empty, Failed } from '../parts/say.tsx'
import { Mark } from '../parts/states.tsx'
import { tried } from '../parts/toasts.tsx'
import { Age, Text, Time } from '../parts/words.tsx'
import { goQuery, href } from '../router.ts'
import { isDev } from '../session.ts'

export default function Inbox({ query, me }: PageProps) {
  const isUnread = query.get('unread') === 'true'
  const page = Number(query.get('page') ?? 1)
  const list = useData(query.toString(), signal =>
    api.listNotifications({ ...(isUnread && { unread: 'true' }), page, limit: 20 }, { signal }),
  )
  const [newer, show] = useNewer(({ type }) => type === 'notification', list.reload)
  const read = (id: string) => tried('Not marked', () => api.readNotification({ id })).then(list.reload)
  const readAll = () => tried('Not marked', () => api.readNotifications()).then(list.reload)
  return (
    <>
      <Head
        title="Inbox"
        acts={
          list.data?.items.some(({ readAt }) => readAt === null) && (
            <button type="button" class="b" onClick={readAll}>
              Mark all as read
            </button>
          )
        }
      />
      <Chips
        label="Show"
        value={isUnread ? 'true' : ''}
        choices={[
          { value: '', word: 'All' },
          { value: 'true', word: 'Unread' },
        ]}
        onChoose={unread => goQuery({ unread, page: null })}
      />
      <Newer many={newer} onShow={show} />
      <section class="card" aria-label="Notifications" aria-busy={list.isLoading}>
        <Listing
          label="The notifications"
          list={list}
          rows={list.data?.items ?? []}
          keyOf={row => row.id}
          isFiltered={isUnread}
          empty={nothing}
          columns={[
            { head: 'What', class: 'wide-c', cell: (row: NotificationRecord) => <News of={row} /> },
            { head: 'When', class: 'n p2', cell: row => <Age at={row.createdAt} /> },
            {
              head: 'State',
              class: 'n',
              cell: row =>
                row.readAt === null ? (
                  <button type="button" class="b s" onClick={() => read(row.id)}>
                    Mark as read
                  </button>
                ) : (
                  <span class="q">read</span>
                ),
            },
          ]}
        />
      </section>
      {isDev && me.isAdmin && <Mails email={me.email} />}
    </>
  )
}

/** They hold links and codes that let one in, so administrators of a simulator alone see them. */
function Mails({ email }: { email: string }) {
  const { data, error, reload } = useData('mails', signal => api.listMails({}, { signal }))
  useChanges(() => true, reload)
  return (
    <Card id="mails" title="Mails that would have been sent">
      {error !== undefined && <Failed what="The mails could not be read." error={error} again={reload} />}
      {data?.items.length === 0 && (
        <Empty command={`npx agent-marketplace account password forgot ${email}`}>
          <p>A simulator sends none. A reset of a password, for one, would send the first.</p>
        </Empty>
      )}
      {data?.items.map(({ id, at, to, subject, text }) => (
        <details key={id} class="sect">
          <summary>
            <Icon name="chevron" class="chev" />
            <Text>{subject}</Text>
            <span class="q r">
              to <Text>{to}</Text>, <Time at={at} />
            </span>
          </summary>
          <p class="in quote">
            <Text>{text}</Text>
          </p>
        </details>
      ))}
    </Card>
  )
}

const nothing = (
  <Empty title="Nothing yet">
    <p>News of your agents, tasks and money.</p>
  </Empty>
)

const WORDS = {
  webhook_health_failed: ['doctor', 'The heartbeat failed'],
  agent_reviewed: ['flag', 'A review was decided'],
  payment_decided: ['flag', 'A payment was decided'],
  dispute_opened: ['flag', 'A dispute was opened'],
  dispute_resolved: ['flag', 'A dispute was decided'],
  administrator_wrote: ['talk', 'The marketplace wrote to you'],
} as const

function News({ of: { type, message, agentId, data } }: { of: NotificationRecord }) {
  const [icon, words] = WORDS[type]
  return (
    <>
      <Mark tone={type === 'dispute_opened' || type === 'webhook_health_failed' ? 'bad' : 'mute'} icon={icon}>
        <a
          class="go"
          href={href('taskId' in data ? `/tasks/${data.taskId}` : agentId ? `/agents/${agentId}` : '/wallet')}
        >
          {words}
        </a>
      </Mark>
      <span class="under">
        <Text>{message}</Text>
      </span>
      {'reason' in data && data.reason && (
        <span class="under">
          <Text>{data.reason}</Text>
        </span>
      )}
    </>
  )
}
