/** The console: what is signed in, and the page of the address. */

import type { ComponentType } from 'preact'
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { pageAt } from './pages.ts'
import { go, place } from './router.ts'
import { isSignIn, learn, me } from './session.ts'
import { Shell } from './shell.tsx'
import { useStore } from './store.ts'

function Console() {
  const user = useStore(me)
  const { query } = useStore(place)
  const isGate = isSignIn()
  useEffect(() => {
    if (user && isGate) go(query.get('to') ?? '/', { replace: true })
  }, [user, isGate])
  if (isGate && !user) return <Gate />
  if (!user || isGate) return null
  return <Shell me={user} />
}

/** Whoever is signed in needs no chunk for it. */
function Gate() {
  const [loaded, setLoaded] = useState<{ SignIn: ComponentType }>()
  useEffect(() => {
    void import('./sign-in.tsx').then(({ default: SignIn }) => setLoaded({ SignIn }))
  }, [])
  return loaded ? <loaded.SignIn /> : null
}

/** A marketplace that does not answer at the start is asked again. */
function Start() {
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = () =>
      learn().then(
        () => setProblem(''),
        (error: Error) => {
          setProblem(error.message)
          timer = setTimeout(ask, 2000)
        },
      )
    void ask()
    return () => clearTimeout(timer)
  }, [])
  if (!problem) return <Console />
  return (
    <div class="gate">
      <main class="stack">
        <h1>No answer</h1>
        <p role="alert">{problem}. It is asked again each 2 s.</p>
      </main>
    </div>
  )
}

render(<Start />, document.body)
// The other pages come while the account is asked for.
if (pageAt(place.value)?.page.body) void import('./pages/others.ts')
