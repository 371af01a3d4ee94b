/** What surrounds each page: the side, the strip, and the top of narrow windows. */
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useActions } from './actions.ts'
import { groups, isFor, type Page, type PageProps } from './page.ts'
import { pageAt, pages } from './pages.ts'
import { Head } from './parts/head.tsx'
import { Icon } from './parts/icons.tsx'
import { go, href, place } from './router.ts'
import { isDev, type Me, signOut } from './session.ts'
import { useStore } from './store.ts'

export const Brand = ({ children }: { children?: ComponentChildren }) => (
  <a class="brand" href={href('/')}>
    <svg class="i" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M4 2.5v15M10 2.5v15M16 2.5v15" opacity=".45" />
      <path d="M4 6h6m0 4h6m-6 4h6" />
      <path
        class="fill"
        d="M2 6a2 2 0 1 0 4 0a2 2 0 1 0-4 0m12 4a2 2 0 1 0 4 0a2 2 0 1 0-4 0m-6 4a2 2 0 1 0 4 0a2 2 0 1 0-4 0"
      />
    </svg>
    <span class="cut">marketplace</span> {isDev && <span class="env">dev</span>}
    {children}
  </a>
)

export function Shell({ me }: { me: Me }) {
  const { path } = useStore(place)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(false), [path])
  const offered = pages.filter(page => isFor(page, me))
  useActions(
    offered
      .filter(({ path }) => !path.includes(':'))
      .map(({ title, path, key }) => ({ title, run: () => go(path), ...(key && { key: `g ${key}` }) })),
  )
  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="top">
        <Brand />
        <button type="button" class="b flat" aria-label="Menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="menu" />
        </button>
      </header>
      <nav class={`side ${isOpen ? 'open' : ''}`} aria-label="Console">
        <Brand />
        {groups.map(group => (
          <Group key={group} title={group} pages={offered.filter(page => page.group === group)} path={path} />
        ))}
        <div class="foot stack r4">
          <p class="q cut">
            <bdi>{me.name}</bdi>
          </p>
          <button type="button" class="b s" onClick={signOut}>
            Sign out
          </button>
        </div>
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        <Content me={me} />
      </main>
      <footer class="strip">
        <span class="r">
          <button type="button" aria-label="Light or dark" onClick={changeTheme}>
            <Icon name="moon" />
          </button>
        </span>
      </footer>
    </div>
  )
}

function Group({ title, pages, path }: { title: string; pages: readonly Page[]; path: string }) {
  if (pages.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      {pages.map(page => (
        <a key={page.path} href={href(page.path)} aria-current={isWithin(page, path) ? 'page' : undefined}>
          <Icon name={page.icon ?? 'list'} />
          {page.title}
        </a>
      ))}
    </>
  )
}

/** The list that a page belongs to is where one is, too. */
const isWithin = (page: Page, path: string) =>
  path === page.path || (page.path !== '/' && path.startsWith(`${page.path}/`))

export function changeTheme(): void {
  const { dataset } = document.documentElement
  const isDark = dataset.theme ? dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  dataset.theme = isDark ? 'light' : 'dark'
  localStorage.setItem('theme', dataset.theme)
}

/** The page of the address. The one before it stays until the chunk of the new one is there. */
function Content({ me }: { me: Me }) {
  const at = useStore(place)
  const found = pageAt(at)
  const page = found && isFor(found.page, me) ? found.page : undefined
  const [loaded, setLoaded] = useState<{ page: Page; Body: ComponentType<PageProps> } | { page: Page; error: Error }>()
  useEffect(() => {
    if (!page) return
    let isLeft = false
    const take = (one: typeof loaded) => isLeft || setLoaded(one)
    page.load().then(
      ({ default: Body }) => take({ page, Body }),
      (error: Error) => take({ page, error }),
    )
    return () => {
      isLeft = true
    }
  }, [page])
  if (!page)
    return (
      <Head
        title="Nothing is here"
        sub={<span>{found ? 'This page is not for this account.' : `The console has no page ${at.path}.`}</span>}
      />
    )
  if (loaded?.page !== page) return <p class="vh">Loading</p>
  if ('error' in loaded)
    return (
      <Head
        title={page.title}
        sub={<span>This page could not be loaded: {loaded.error.message}. Load it again.</span>}
      />
    )
  return <loaded.Body params={found!.params} query={at.query} me={me} />
}
