/** What surrounds each page: the side, the strip, the top of narrow windows, and what stands over all. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Change } from '../api/dev-records.ts'
import { useActions } from './actions.ts'
import { api } from './api.ts'
import { useData } from './data.ts'
import { goLive, pause, paused, said, useChanges } from './live.ts'
import { groups, isFor, type Page } from './page.ts'
import Overview from './pages/overview.tsx'
import { type Others, pageAt, pages } from './pages.ts'
import { Guard, tries } from './parts/guard.tsx'
import { Head } from './parts/head.tsx'
import { Icon } from './parts/icons.tsx'
import { Loading } from './parts/say.tsx'
import { Toasts, tried } from './parts/toasts.tsx'
import { Text } from './parts/words.tsx'
import { go, href, place } from './router.ts'
import { beSide, brand, isDev, type Me, type Side, sideOf, sides, signOut } from './session.ts'
import { Store, useStore } from './store.ts'
import { Strip } from './strip.tsx'

export const Brand = ({ children }: { children?: ComponentChildren }) => (
  <a class="brand" href={href('/')}>
    {brand.logo ? <img class="logo" src={brand.logo} alt="" height="28" /> : <Sign />}
    <span class="cut">{brand.name}</span> {isDev && <span class="env">dev</span>}
    {children}
  </a>
)

const Sign = () => (
  <svg class="i" viewBox="0 0 20 20" aria-hidden="true">
    <path d="M4 2.5v15M10 2.5v15M16 2.5v15" opacity=".45" />
    <path d="M4 6h6m0 4h6m-6 4h6" />
    <path
      class="fill"
      d="M2 6a2 2 0 1 0 4 0a2 2 0 1 0-4 0m12 4a2 2 0 1 0 4 0a2 2 0 1 0-4 0m-6 4a2 2 0 1 0 4 0a2 2 0 1 0-4 0"
    />
  </svg>
)

export function Shell({ me }: { me: Me }) {
  const { path } = useStore(place)
  const [isOpen, setOpen] = useState(false)
  const [over, setOver] = useState<Over>()
  const all = useStore(others)
  const OverAll = over && !(all instanceof Error) && all?.[over]
  useEffect(() => setOpen(false), [path])
  useEffect(goLive, [me.id])
  // The first page is drawn before, and nothing that is opened from it waits.
  useEffect(loadOthers, [path, over])
  const offered = pages.filter(page => isFor(page, me))
  useKeys(me, offered, setOver)
  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="top">
        <Brand />
        <button type="button" class="b flat" aria-label="Commands" onClick={() => setOver('Palette')}>
          <Icon name="search" />
        </button>
        <button type="button" class="b flat" aria-label="Menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="menu" />
        </button>
      </header>
      <nav class={`side ${isOpen ? 'open' : ''}`} aria-label="Console">
        <Brand />
        <button type="button" class="jump" onClick={() => setOver('Palette')}>
          <Icon name="search" />
          Find or do <kbd>.</kbd>
        </button>
        {groups.map(group => (
          <Group
            key={group}
            title={group}
            pages={offered.filter(page => page.group === group)}
            path={path}
            account={me.id}
          />
        ))}
        <h2>Public</h2>
        <a href="/agents">
          <Icon name="box" />
          Marketplace
        </a>
        {isDev ? <Sides me={me} /> : <Account me={me} />}
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        <Content me={me} />
      </main>
      <Strip onOver={setOver} onTheme={changeTheme} />
      <Toasts />
      <p class="vh" aria-live="polite">
        {useStore(said)}
      </p>
      {OverAll && <OverAll onClose={() => setOver(undefined)} />}
    </div>
  )
}

function useKeys(me: Me, offered: readonly Page[], open: (over: Over) => void): void {
  const isPaused = useStore(paused) !== null
  useActions([
    { title: 'Commands', key: '.', run: () => open('Palette') },
    { title: 'Keys', key: '?', run: () => open('Keys') },
    { title: isPaused ? 'Go on live' : 'Pause', key: 'p', run: pause },
    { title: 'Light or dark', run: changeTheme },
    ...(['j', 'ArrowDown'] as const).map(key => ({ title: 'Next', key, isHidden: true, run: () => walkList(1) })),
    ...(['k', 'ArrowUp'] as const).map(key => ({ title: 'Previous', key, isHidden: true, run: () => walkList(-1) })),
    {
      title: 'Filter',
      key: '/',
      isHidden: true,
      run: () => document.querySelector<HTMLElement>('main input[type=search]')?.focus(),
    },
    ...offered
      .filter(({ path }) => !path.includes(':'))
      .map(({ title, path, key }) => ({ title, run: () => go(path), ...(key && { key: `g ${key}` }) })),
    ...(isDev
      ? sides.map((side, at) => ({ title: `Be the ${SIDES[side]}`, key: String(at + 1), run: () => change(side, me) }))
      : []),
    { title: 'Sign out', run: signOut },
  ])
}

/** j, k and arrows walk along the links of the list that is there; `/` goes to its filter. */
function walkList(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('main .go, main .ev .lab a')].filter(link =>
    link.checkVisibility(),
  )
  const focused = links.indexOf(document.activeElement as HTMLAnchorElement)
  const current = focused >= 0 ? focused : links.findIndex(link => link.closest('[aria-current]'))
  const next = links[Math.max(0, Math.min(links.length - 1, current + step))]
  next?.focus()
  // What is shown beside the list goes along.
  if (location.hash && next?.hash) next.click()
}

interface GroupProps {
  title: string
  pages: readonly Page[]
  path: string
  /** Who is signed in. */
  account: string
}

function Group({ title, pages, path, account }: GroupProps) {
  if (pages.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      {pages.map(page => (
        <a key={page.path} href={href(page.path)} aria-current={isWithin(page, path) ? 'page' : undefined}>
          <Icon name={page.icon ?? 'list'} />
          {page.title}
          {WAITING[page.path] && (
            <Guard isQuiet>
              <Waiting of={WAITING[page.path]!} account={account} />
            </Guard>
          )}
        </a>
      ))}
    </>
  )
}

interface Waits {
  readonly words: string
  readonly changesWith: (change: Change) => boolean
  ask(signal: AbortSignal): Promise<number>
}

/** Where somebody must act. */
const WAITING: Readonly<Record<string, Waits>> = {
  '/tasks': {
    words: 'to look at',
    changesWith: ({ type }) => type === 'task',
    ask: async signal =>
      (await api.listTasks({ role: 'buyer', status: 'delivered', limit: 1 }, { signal })).pagination.total,
  },
  '/inbox': {
    words: 'unread',
    changesWith: ({ type }) => type === 'notification',
    ask: async signal => (await api.listNotifications({ unread: 'true', limit: 1 }, { signal })).pagination.total,
  },
  '/queues': {
    words: 'waiting',
    changesWith: ({ type }) => type !== 'webhook',
    async ask(signal) {
      const { disputes, agents, deposits, withdrawals } = await api.adminQueues({}, { signal })
      return [disputes, agents, deposits, withdrawals].reduce((sum, { count }) => sum + count, 0)
    },
  },
}

function Waiting({ of: { words, changesWith, ask }, account }: { of: Waits; account: string }) {
  const { data = 0, reload } = useData(words + account, ask)
  useChanges(changesWith, reload)
  return data > 0 ? (
    <span class="tag wait r">
      {data}
      <span class="vh"> {words}</span>
    </span>
  ) : null
}

/** The list that a page belongs to is where one is, too. */
const isWithin = (page: Page, path: string) =>
  path === page.path || (page.path !== '/' && path.startsWith(`${page.path}/`))

const SIDES = { buyer: 'buyer', builder: 'builder', admin: 'administrator' } as const
const NAMES = { buyer: 'Buyer', builder: 'Builder', admin: 'Admin' } as const

const change = (side: Side, me: Me) => {
  if (side !== sideOf(me)) void tried('Still the same', () => beSide(side))
}

function Sides({ me }: { me: Me }) {
  return (
    <div class="foot stack r4">
      <p class="q cut" id="who">
        Signed in as {sideOf(me) === undefined && <Text>{me.name}</Text>}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend beside the label */}
      <div class="who" role="group" aria-labelledby="who">
        {sides.map(side => (
          <button key={side} type="button" aria-pressed={side === sideOf(me)} onClick={() => change(side, me)}>
            {NAMES[side]}
          </button>
        ))}
      </div>
    </div>
  )
}

const Account = ({ me }: { me: Me }) => (
  <div class="foot stack r4">
    <p class="q cut">
      <Text>{me.name}</Text>
    </p>
    <button type="button" class="b s" onClick={signOut}>
      Sign out
    </button>
  </div>
)

function changeTheme(): void {
  const { dataset } = document.documentElement
  const isDark = dataset.theme ? dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  dataset.theme = isDark ? 'light' : 'dark'
  localStorage.setItem('theme', dataset.theme)
}

type Over = 'Palette' | 'Keys'

/** All but the first page; an error: they could not be loaded. */
const others = new Store<Others | Error | undefined>(undefined)

function loadOthers(): void {
  if (!others.value || others.value instanceof Error)
    import('./pages/others.ts').then(
      all => others.set(all),
      error => others.set(error),
    )
}

/** The page of the address. */
function Content({ me }: { me: Me }) {
  const at = useStore(place)
  const turn = useStore(tries)
  const found = pageAt(at)
  const page = found && isFor(found.page, me) ? found.page : undefined
  const body = page?.body
  const all = useStore(others)
  if (!page)
    return (
      <Head
        title="Nothing is here"
        sub={<span>{found ? 'This page is not for this account.' : `The console has no page ${at.path}.`}</span>}
      />
    )
  if (body && all instanceof Error)
    return <Head title={page.title} sub={<span>This page could not be loaded: {all.message}. Load it again.</span>} />
  const Body = body ? (all as Others | undefined)?.[body] : Overview
  if (!Body)
    return (
      <div class="stack coming">
        <Head title={page.title} />
        <Loading />
      </div>
    )
  // Another account sees it anew.
  return (
    <Guard key={`${me.id} ${turn}`} title={page.title}>
      <Body params={found!.params} query={at.query} me={me} />
    </Guard>
  )
}
