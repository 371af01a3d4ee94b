/** Notifications, and in a simulator the mails that a server would have sent. */
import type { NotificationRecord } from '../../api/records.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { useChanges } from '../live.ts'
import type { PageProps } from '../page.ts'
import { Head } from '../parts/head.tsx'
import { Listing } from '../parts/listing.tsx'
import { tried } from '../parts/over.tsx'
import { Empty } from '../parts/say.tsx'
import { Mark } from '../parts/states.tsx'
import { Age, Text, units } from '../parts/words.tsx'
import { href } from '../router.ts'

export default function Inbox({ query }: PageProps) {
  const page = Number(query.get('page') ?? 1)
  const list = useData(query.toString(), signal => api.listNotifications({ page, limit: 20 }, { signal }))
  useChanges(({ type }) => type === 'notification', list.reload)
  const read = (id: string) => tried('Not marked', () => api.readNotification({ id })).then(list.reload)
  return (
    <>
      <Head title="Inbox" sub={<span>What the marketplace has told you.</span>} />
      <section class="card" aria-label="Notifications" aria-busy={list.isLoading}>
        <Listing
          label="The notifications"
          list={list}
          rows={list.data?.items ?? []}
          keyOf={row => row.id}
          isFiltered={false}
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

function News({ of }: { of: NotificationRecord }) {
  const { type, message, agentId } = of
  if (type === 'webhook_health_failed')
    return (
      <>
        <Mark tone="bad" icon="doctor">
          <a class="go" href={href(`/agents/${agentId}`)}>
            The heartbeat failed
          </a>
        </Mark>
        <span class="under">
          <Text>{message}</Text>
        </span>
      </>
    )
  const { data } = of
  const decided = 'outcome' in data && `${data.outcome}, ${units(data.refundAmount)} back`
  return (
    <>
      <Mark tone={decided ? 'mute' : 'bad'} icon="flag">
        <a class="go" href={href(`/tasks/${data.taskId}`)}>
          {decided ? `Decided: ${decided}` : 'A dispute was opened'}
        </a>
      </Mark>
      <span class="under">
        <Text>{message}</Text>
      </span>
    </>
  )
}
