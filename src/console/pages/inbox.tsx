/** Notifications, and in a simulator the mails that a server would have sent. */
import type { NotificationRecord } from '../../api/records.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { useChanges } from '../live.ts'
import type { PageProps } from '../page.ts'
import { Chips } from '../parts/controls.tsx'
import { Head } from '../parts/head.tsx'
import { Listing } from '../parts/listing.tsx'
import { tried } from '../parts/over.tsx'
import { Empty } from '../parts/say.tsx'
import { Mark } from '../parts/states.tsx'
import { Age, Text } from '../parts/words.tsx'
import { goQuery, href } from '../router.ts'

export default function Inbox({ query }: PageProps) {
  const isUnread = query.get('unread') === 'true'
  const page = Number(query.get('page') ?? 1)
  const list = useData(query.toString(), signal =>
    api.listNotifications({ ...(isUnread && { unread: 'true' }), page, limit: 20 }, { signal }),
  )
  useChanges(({ type }) => type === 'notification', list.reload)
  const read = (id: string) => tried('Not marked', () => api.readNotification({ id })).then(list.reload)
  const readAll = () => tried('Not marked', () => api.readNotifications()).then(list.reload)
  return (
    <>
      <Head
        title="Inbox"
        sub={<span>What the marketplace has told you.</span>}
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
    </>
  )
}

const nothing = (
  <Empty title="Nothing yet">
    <p>A failed heartbeat of your agent, a dispute and its decision are told here.</p>
  </Empty>
)

const WORDS = {
  webhook_health_failed: ['doctor', 'The heartbeat failed'],
  dispute_opened: ['flag', 'A dispute was opened'],
  dispute_resolved: ['flag', 'A dispute was decided'],
  administrator_wrote: ['talk', 'The marketplace wrote to you'],
} as const

function News({ of: { type, message, agentId, data } }: { of: NotificationRecord }) {
  const [icon, words] = WORDS[type]
  return (
    <>
      <Mark tone={type === 'dispute_opened' || type === 'webhook_health_failed' ? 'bad' : 'mute'} icon={icon}>
        <a class="go" href={href('taskId' in data ? `/tasks/${data.taskId}` : `/agents/${agentId}`)}>
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
