/** The accounts of the marketplace. */
import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import type { PageProps } from '../page.ts'
import { Find, given } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Drawer } from '../parts/drawer.tsx'
import { Head } from '../parts/head.tsx'
import { Listing } from '../parts/listing.tsx'
import { Empty, Id } from '../parts/say.tsx'
import { Mark } from '../parts/states.tsx'
import { toast, tried } from '../parts/toasts.tsx'
import { Age, Avatar, Money, Text } from '../parts/words.tsx'
import { goQuery } from '../router.ts'

type User = Awaited<ReturnType<typeof api.adminListUsers>>['items'][number]

export default function Users({ query }: PageProps) {
  const q = query.get('q') ?? ''
  const page = Number(query.get('page') ?? 1)
  const chosen = query.get('user') ?? ''
  const list = useData(`${q} ${page}`, signal => api.adminListUsers({ ...given({ q }), page, limit: 20 }, { signal }))
  const user = list.data?.items.find(({ id }) => id === chosen)
  return (
    <>
      <Head title="Users" sub={<span>Everybody who has an account.</span>} />
      <div class="bar">
        <Find
          label="Find an account"
          placeholder="Name, email or id"
          filters={{ q }}
          onFilter={next => goQuery({ q: null, page: null, user: null, ...next }, { replace: true })}
        />
      </div>
      <div class={user ? 'cols wide' : 'stack'}>
        <section class="card" aria-label="Users" aria-busy={list.isLoading}>
          <Listing
            label="The accounts"
            list={list}
            rows={list.data?.items ?? []}
            keyOf={row => row.id}
            open={chosen}
            isFiltered={q !== ''}
            empty={
              <Empty>
                <p>Nobody has an account.</p>
              </Empty>
            }
            columns={COLUMNS}
          />
        </section>
        {user && <OneUser key={user.id} user={user} onChange={list.reload} onClose={() => goQuery({ user: null })} />}
      </div>
    </>
  )
}

const standing = ({ banned, suspended, identityVerified }: User) =>
  banned
    ? (['bad', 'failed', 'banned'] as const)
    : suspended
      ? (['wait', 'pause', 'suspended'] as const)
      : identityVerified
        ? (['ok', 'check', 'verified'] as const)
        : (['mute', 'draft', 'not verified'] as const)

const Standing = ({ of }: { of: User }) => {
  const [tone, icon, word] = standing(of)
  return (
    <Mark tone={tone} icon={icon}>
      {word}
    </Mark>
  )
}

const rolesOf = ({ isAdmin, isBuilder }: User) => (isAdmin ? 'administrator' : isBuilder ? 'builder' : 'buyer')

const COLUMNS = [
  {
    head: 'Name',
    class: 'wide-c',
    cell: (row: User) => (
      <span class="row nw">
        <Avatar id={row.id} name={row.name} round />
        <span>
          <button type="button" class="go plain" onClick={() => goQuery({ user: row.id })}>
            <Text>{row.name}</Text>
          </button>
          <span class="under">{row.email}</span>
        </span>
      </span>
    ),
  },
  { head: 'Role', class: 'p2', cell: rolesOf },
  { head: 'Joined', class: 'n p2', cell: (row: User) => <Age at={row.createdAt} /> },
  { head: 'Standing', class: 'n', cell: (row: User) => <Standing of={row} /> },
]

interface OneUserProps {
  user: User
  onChange: () => void
  onClose: () => void
}

function OneUser({ user, onChange, onClose }: OneUserProps) {
  const [asks, setAsks] = useState<'ban' | 'purge'>()
  const { id, name, banned, suspended, identityVerified } = user
  const { data } = useData(id, signal => api.adminGetUser({ id }, { signal }))
  const change = async (word: string, fields: Omit<Parameters<typeof api.adminUpdateUser>[0], 'id'>) => {
    if (await tried('Not changed', () => api.adminUpdateUser({ id, ...fields })))
      toast({ tone: 'ok', word, text: name })
    onChange()
  }
  const purge = async () => {
    for (let isDone = false; !isDone; ) isDone = (await api.purgeUser({ id })).done
    toast({ tone: 'ok', word: 'Removed', text: `What ${name} has written is gone.` })
  }
  return (
    <Drawer label="The chosen account" title={<Text>{name}</Text>} onClose={onClose}>
      <div class="in">
        <dl class="dl">
          <dt>Email</dt>
          <dd>{user.email}</dd>
          <dt>Id</dt>
          <dd>
            <Id of={id} label="the account’s id" />
          </dd>
          <dt>Role</dt>
          <dd>{rolesOf(user)}</dd>
          <dt>Trust</dt>
          <dd>{user.trustTier.replaceAll('_', ' ')}</dd>
          <dt>Payouts</dt>
          <dd>{user.connectStatus.replaceAll('_', ' ')}</dd>
          {data && (
            <>
              <dt>Wallet</dt>
              <dd>
                <Money cents={data.wallet.available} />, <Money cents={data.wallet.held} /> held,{' '}
                <Money cents={data.wallet.clearing} /> clearing
              </dd>
            </>
          )}
          <dt>Chargebacks</dt>
          <dd class="n">{user.chargebacks}</dd>
          <dt>Joined</dt>
          <dd>
            <Age at={user.createdAt} />
          </dd>
        </dl>
      </div>
      <footer class="acts">
        <button type="button" class="b s" onClick={() => change('Changed', { identityVerified: !identityVerified })}>
          {identityVerified ? 'Take the verification back' : 'Verify'}
        </button>
        <button type="button" class="b s" onClick={() => change('Changed', { suspended: !suspended })}>
          {suspended ? 'Lift the suspension' : 'Suspend'}
        </button>
        {user.connectStatus === 'pending' && (
          <button type="button" class="b s" onClick={() => change('Connected', { connectStatus: 'connected' })}>
            Connect its payouts
          </button>
        )}
        {banned ? (
          <>
            <button type="button" class="b s" onClick={() => change('Unbanned', { banned: false })}>
              Lift the ban
            </button>
            <button type="button" class="b s bad-b" onClick={() => setAsks('purge')}>
              Remove what it wrote…
            </button>
          </>
        ) : (
          <button type="button" class="b s bad-b" onClick={() => setAsks('ban')}>
            Ban…
          </button>
        )}
      </footer>
      {asks === 'ban' && (
        <Dialog
          title={`Ban ${name}?`}
          act="Ban"
          isBad
          onAct={() => api.adminUpdateUser({ id, banned: true }).then(onChange)}
          onClose={() => setAsks(undefined)}
        >
          <p class="qq">Its sessions end. Its money stays where it is.</p>
        </Dialog>
      )}
      {asks === 'purge' && (
        <Dialog
          title={`Remove what ${name} has written?`}
          act="Remove it"
          isBad
          onAct={purge}
          onClose={() => setAsks(undefined)}
        >
          <p class="qq">It can’t be undone. Money stays, and so does what buyers have bought.</p>
        </Dialog>
      )}
    </Drawer>
  )
}
