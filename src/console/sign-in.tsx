/** Signing in: one click in a simulator, an email and a password elsewhere. */
import { useEffect, useState } from 'preact/hooks'
import type { MarketplaceError } from '../client/client.ts'
import { useActions } from './actions.ts'
import { api, isRefusal } from './api.ts'
import { Field, type Refusal, Refused } from './parts/form.tsx'
import { Command, Note } from './parts/say.tsx'
import { count } from './parts/words.tsx'
import { place } from './router.ts'
import { become, beSide, brand, isDev, type Side, sides, tellTabs } from './session.ts'
import { Brand } from './shell.tsx'
import { useStore } from './store.ts'

export default function SignIn() {
  const { query } = useStore(place)
  useEffect(() => {
    document.title = `Sign in · ${brand.name}`
  }, [])
  return (
    <div class="gate">
      <main id="main">
        <Brand />
        {isDev ? <PickOne /> : <Gate token={query.get('reset')} hasForgot={query.has('forgot')} />}
        {(query.get('to') ?? '/') !== '/' && <p class="q">You go on where you were. What you wrote is still there.</p>}
      </main>
    </div>
  )
}

const PEOPLE = {
  builder: ['Builder', 'agents, deliveries, earnings', 'run'],
  buyer: ['Buyer', 'hires and pays', 'give'],
  admin: ['Administrator', 'disputes, clock and weather', 'mute'],
} as const

function PickOne() {
  const [error, setError] = useState('')
  const be = (side: Side) => beSide(side).catch((error: Error) => setError(error.message))
  useActions(sides.map((side, at) => ({ title: PEOPLE[side][0], key: String(at + 1), run: () => be(side) })))
  return (
    <>
      <div class="stack r4">
        <h1>Who do you want to be?</h1>
        <p class="qq">Everything here is on this laptop. Change sides whenever you like, at the bottom left.</p>
      </div>
      {error && (
        <Note tone="bad" icon="failed" alert>
          {error}
        </Note>
      )}
      <div class="card pick-one">
        {sides.map((side, at) => (
          <button key={side} type="button" onClick={() => be(side)}>
            <span class={`av p ${PEOPLE[side][2]}`} aria-hidden="true">
              {PEOPLE[side][0].slice(0, 2)}
            </span>
            <b>{PEOPLE[side][0]}</b>
            <kbd>{at + 1}</kbd>
            <span class="q">{PEOPLE[side][1]}</span>
          </button>
        ))}
      </div>
      <div class="stack r8">
        <p class="q">The same by hand</p>
        <Command>npx agent-marketplace dev --print-env</Command>
      </div>
    </>
  )
}

type Form = 'login' | 'ask' | 'reset'

function Gate({ token, hasForgot }: { token: string | null; hasForgot: boolean }) {
  const [form, setForm] = useState<Form>(token ? 'reset' : hasForgot ? 'ask' : 'login')
  const [done, setDone] = useState('')
  const next = (form: Form, done = '') => {
    setForm(form)
    setDone(done)
  }
  return (
    <>
      {done && (
        <Note tone="ok" icon="check" alert>
          {done}
        </Note>
      )}
      {form === 'login' && <Login onForgot={() => next('ask')} />}
      {form === 'ask' && (
        <AskReset
          onSent={() => next('reset', 'If an account has this email, a mail with a token is on its way.')}
          onBack={() => next('login')}
        />
      )}
      {form === 'reset' && (
        <Reset
          token={token ?? ''}
          onDone={() => next('login', 'The new password is set. Sign in with it.')}
          onBack={() => next('login')}
        />
      )}
    </>
  )
}

/** Sends a form. Too many tries: until when it makes no sense to try again is counted down. */
function useSending(send: (fields: Record<string, string>) => Promise<void>) {
  const [wrong, setWrong] = useState<Refusal>()
  const [wait, setWait] = useState(0)
  useEffect(() => {
    const timer = wait > 0 ? setTimeout(() => setWait(wait - 1), 1000) : 0
    return () => clearTimeout(timer)
  }, [wait])
  const submit = async (event: Event) => {
    event.preventDefault()
    if (wait > 0) return
    const fields = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement)) as Record<string, string>
    try {
      await send(fields)
    } catch (error) {
      setWrong(error as Refusal)
      if (isRefusal(error, 429)) setWait(Math.ceil((error.retryAfterMs ?? 1000) / 1000))
    }
  }
  return { wrong, wait, submit }
}

interface GateFormProps {
  title: string
  act: string
  refused: string
  sending: ReturnType<typeof useSending>
  children: preact.ComponentChildren
}

const GateForm = ({ title, act, refused, sending: { wrong, wait, submit }, children }: GateFormProps) => (
  <form class="card" onSubmit={submit}>
    <div class="in stack">
      <h1>{title}</h1>
      <Refused what={refused} wrong={wrong} />
      {children}
      <button type="submit" class="b main-b w" aria-disabled={wait > 0}>
        {wait > 0 ? `Again in ${count(wait, 'second')}` : act}
      </button>
    </div>
  </form>
)

function Login({ onForgot }: { onForgot: () => void }) {
  const [second, setSecond] = useState<'totp' | 'recoveryCode'>()
  const sending = useSending(async ({ email = '', password = '', ...code }) => {
    try {
      const { user } = await api.login({ email, password, ...code })
      become(user)
      tellTabs()
    } catch (error) {
      if (second === undefined && (error as MarketplaceError).errors?.totp) setSecond('totp')
      throw error
    }
  })
  const { wrong } = sending
  return (
    <GateForm title="Sign in" act="Sign in" refused="Not signed in." sending={sending}>
      <Field id="email" label="Email" wrong={wrong}>
        {attributes => <input {...attributes} type="email" autocomplete="username" required />}
      </Field>
      <Field id="password" label="Password" wrong={wrong}>
        {attributes => <input {...attributes} type="password" autocomplete="current-password" required />}
      </Field>
      {second && (
        <Field
          key={second}
          id={second}
          label={second === 'totp' ? 'Code of your authenticator' : 'A recovery code'}
          wrong={wrong}
        >
          {attributes => <input {...attributes} autocomplete="one-time-code" required />}
        </Field>
      )}
      {second === 'totp' && (
        <button type="button" class="link" onClick={() => setSecond('recoveryCode')}>
          Take a recovery code
        </button>
      )}
      <button type="button" class="link" onClick={onForgot}>
        Forgot the password
      </button>
    </GateForm>
  )
}

interface StepProps {
  onBack: () => void
}

const Back = ({ onBack }: StepProps) => (
  <button type="button" class="link" onClick={onBack}>
    Back to signing in
  </button>
)

function AskReset({ onSent, onBack }: StepProps & { onSent: () => void }) {
  const sending = useSending(async ({ email = '' }) => {
    await api.requestPasswordReset({ email })
    onSent()
  })
  return (
    <GateForm title="A new password" act="Send the mail" refused="No mail was sent." sending={sending}>
      <Field id="email" label="Email" wrong={sending.wrong}>
        {attributes => <input {...attributes} type="email" autocomplete="username" required />}
      </Field>
      <Back onBack={onBack} />
    </GateForm>
  )
}

function Reset({ token, onDone, onBack }: StepProps & { token: string; onDone: () => void }) {
  const sending = useSending(async ({ token = '', password = '' }) => {
    await api.confirmPasswordReset({ token, password })
    onDone()
  })
  const { wrong } = sending
  return (
    <GateForm title="A new password" act="Set the password" refused="Not set." sending={sending}>
      <Field id="token" label="The token of the mail" wrong={wrong}>
        {attributes => <input {...attributes} defaultValue={token} autocomplete="off" required />}
      </Field>
      <Field id="password" label="New password" help="It ends all sessions and API keys." wrong={wrong}>
        {attributes => <input {...attributes} type="password" autocomplete="new-password" required />}
      </Field>
      <Back onBack={onBack} />
    </GateForm>
  )
}
