/** One's account: where it is signed in, its keys, and how the console behaves. */
import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import type { PageProps } from '../page.ts'
import { Segments, Switch } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Parts } from '../parts/guard.tsx'
import { Head } from '../parts/head.tsx'
import { Card, Copy, Failed, Loading, Note } from '../parts/say.tsx'
import { Mark } from '../parts/states.tsx'
import { toast, tried } from '../parts/toasts.tsx'
import { Age, Text } from '../parts/words.tsx'
import { href } from '../router.ts'
import { me as signedIn } from '../session.ts'
import { SecondFactor } from './second-factor.tsx'

export default function Settings({ me }: PageProps) {
  return (
    <>
      <Head
        title="Settings"
        sub={
          <>
            <bdi>{me.name}</bdi>
            <span>{me.email}</span>
          </>
        }
      />
      <Parts class="two">
        <Behaviour />
        {!me.isBuilder && <Builder />}
        <Password />
        <Sessions />
        <SecondFactor />
        {me.isBuilder && <Keys />}
        <CodingAgent />
      </Parts>
    </>
  )
}

const THEMES = [
  { value: '', word: 'As the system' },
  { value: 'light', word: 'Light' },
  { value: 'dark', word: 'Dark' },
] as const
type Theme = (typeof THEMES)[number]['value']

function Behaviour() {
  const [theme, setTheme] = useState((localStorage.getItem('theme') ?? '') as Theme)
  const [keys, setKeys] = useState(localStorage.getItem('keys') !== 'off')
  const { dataset } = document.documentElement
  return (
    <Card id="behaviour" title="The console">
      <div class="in stack">
        <div class="row">
          <span>Colours</span>
          <Segments
            label="Colours"
            value={theme}
            choices={THEMES}
            onChoose={value => {
              setTheme(value)
              if (value === '') {
                delete dataset.theme
                localStorage.removeItem('theme')
              } else {
                dataset.theme = value
                localStorage.setItem('theme', value)
              }
            }}
          />
        </div>
        <Switch
          on={keys}
          onTurn={isOn => {
            setKeys(isOn)
            localStorage.setItem('keys', isOn ? 'on' : 'off')
          }}
        >
          Single keys do things
        </Switch>
      </div>
    </Card>
  )
}

function Builder() {
  const build = async () => {
    const { user } = await api.updateMe({ isBuilder: true })
    signedIn.set(user)
    toast({
      tone: 'ok',
      word: 'Done',
      text: 'You can list agents now.',
      link: { href: href('/agents/new'), word: 'List one' },
    })
  }
  return (
    <Card id="builder" title="Agents of your own">
      <div class="in row">
        <button type="button" class="b s" onClick={() => tried('Not done', build)}>
          Become a builder
        </button>
        <span class="q">Buyers hire them, and you are paid.</span>
      </div>
    </Card>
  )
}

function Sessions() {
  const list = useData('sessions', signal => api.listSessions({ limit: 100 }, { signal }))
  const end = (id: string) => tried('Not ended', () => api.endSession({ id })).then(list.reload)
  const endOthers = () => tried('Not ended', () => api.endOtherSessions()).then(list.reload)
  const sessions = list.data?.items ?? []
  return (
    <Card
      id="sessions"
      title="Where you are signed in"
      tools={
        sessions.length > 1 && (
          <button type="button" class="b s" onClick={endOthers}>
            End all others
          </button>
        )
      }
    >
      {list.error ? (
        <Failed what="The sessions could not be read." error={list.error} again={list.reload} />
      ) : !list.data ? (
        <Loading />
      ) : (
        <ul class="lines">
          {sessions.map(({ id, userAgent, address, lastSeenAt, current }) => (
            <li key={id}>
              <span class="stack r0 grow">
                <span class="cut">
                  <Text>{userAgent ?? 'Unknown program'}</Text>
                </span>
                <span class="q">
                  {address} · seen <Age at={lastSeenAt} />
                </span>
              </span>
              {current ? (
                <Mark tone="ok" icon="check">
                  this one
                </Mark>
              ) : (
                <button type="button" class="b s" onClick={() => end(id)}>
                  End<span class="vh"> that from {address}</span>
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function Keys() {
  const list = useData('keys', signal => api.listKeys({ limit: 100 }, { signal }))
  const [name, setName] = useState<string>()
  const [made, setMade] = useState('')
  const make = async () => {
    const { key } = await api.createKey({ name: name ?? '' })
    setMade(key)
    list.reload()
  }
  const remove = (id: string) => tried('Not deleted', () => api.deleteKey({ id })).then(list.reload)
  return (
    <Card
      id="keys"
      title="API keys"
      tools={
        <button type="button" class="b s" onClick={() => setName('')}>
          New…
        </button>
      }
    >
      {made && (
        <div class="in stack r8">
          <Note tone="wait" icon="key">
            <b>Copy the new key now.</b> It is not shown again.
          </Note>
          <div class="row">
            <code class="cut">{made}</code>
            <Copy text={made} label="the key" />
          </div>
        </div>
      )}
      {list.error ? (
        <Failed what="The keys could not be read." error={list.error} again={list.reload} />
      ) : !list.data ? (
        <Loading />
      ) : list.data.items.length === 0 ? (
        <p class="in q">You have none. A program that acts for you sends one.</p>
      ) : (
        <ul class="lines">
          {list.data.items.map(({ id, name: called, keyPrefix, lastUsedAt }) => (
            <li key={id}>
              <span class="stack r0 grow">
                <b class="cut">
                  <Text>{called}</Text>
                </b>
                <span class="q">
                  <span class="m">{keyPrefix}…</span> · {lastUsedAt ? <Age at={lastUsedAt} /> : 'never used'}
                </span>
              </span>
              <button type="button" class="b s" onClick={() => remove(id)}>
                Delete<span class="vh"> {called}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {name !== undefined && (
        <Dialog title="What is the key for?" act="Make the key" onAct={make} onClose={() => setName(undefined)}>
          <div class="field">
            <label for="name">Name</label>
            <input id="name" type="text" value={name} onInput={event => setName(event.currentTarget.value)} />
          </div>
        </Dialog>
      )}
    </Card>
  )
}

const NO_PASSWORDS = { currentPassword: '', newPassword: '' }

function Password() {
  const [isAsked, setAsked] = useState(false)
  const [fields, setFields] = useState(NO_PASSWORDS)
  const change = async () => {
    await api.changePassword(fields)
    setFields(NO_PASSWORDS)
    toast({ tone: 'ok', word: 'Changed', text: 'Every other session has ended.' })
  }
  const input = (name: keyof typeof fields, label: string, kind: string) => (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        type="password"
        autoComplete={kind}
        value={fields[name]}
        onInput={event => setFields({ ...fields, [name]: event.currentTarget.value })}
      />
    </div>
  )
  return (
    <Card id="password" title="Password">
      <div class="in row">
        <button type="button" class="b s" onClick={() => setAsked(true)}>
          Change it…
        </button>
        <span class="q">It ends every other session.</span>
      </div>
      {isAsked && (
        <Dialog title="A new password" act="Change it" onAct={change} onClose={() => setAsked(false)}>
          {input('currentPassword', 'The one you have', 'current-password')}
          {input('newPassword', 'The new one', 'new-password')}
        </Dialog>
      )}
    </Card>
  )
}

const SNIPPET = JSON.stringify(
  { mcpServers: { marketplace: { command: 'npx', args: ['agent-marketplace', 'mcp', '--start', 'node agent.mjs'] } } },
  null,
  2,
)

const CodingAgent = () => (
  <Card id="mcp" title="Connect a coding agent" tools={<Copy text={SNIPPET} label="the settings" />}>
    <div class="in stack r8">
      <p class="qq">It gets tools that hire your agent, show what was sent, and say why. Put this into its settings:</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section class="raw" tabIndex={0} aria-label="Settings of the coding agent">
        <pre>{SNIPPET}</pre>
      </section>
    </div>
  </Card>
)
