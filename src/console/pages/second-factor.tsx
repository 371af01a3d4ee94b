/** Codes of an authenticator app at sign-in: turned on and off. */
import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Card, Copy, Failed, Loading, Note } from '../parts/say.tsx'
import { Mark } from '../parts/states.tsx'
import { count } from '../parts/words.tsx'

type Step = 'begin' | 'confirm' | 'remove'

export function SecondFactor() {
  const { data, error, reload } = useData('totp', signal => api.getTotp({}, { signal }))
  const [step, setStep] = useState<Step>()
  const [text, setText] = useState('')
  const [code, setCode] = useState('')
  const [secret, setSecret] = useState('')
  const [recovery, setRecovery] = useState<readonly string[]>([])
  const next = data?.enabled ? 'remove' : secret ? 'confirm' : 'begin'
  const open = (next: Step | undefined) => {
    setText('')
    setCode('')
    setStep(next)
  }
  const begin = async () => {
    const begun = await api.beginTotp({ password: text })
    setSecret(begun.secret)
  }
  const confirm = async () => {
    const { recoveryCodes } = await api.confirmTotp({ code })
    setRecovery(recoveryCodes)
    setSecret('')
    reload()
  }
  const remove = () => api.removeTotp({ password: text, totp: code }).then(reload)
  return (
    <Card
      id="totp"
      title="Second factor"
      tools={
        data && (
          <Mark tone={data.enabled ? 'ok' : 'mute'} icon={data.enabled ? 'shield' : 'draft'}>
            {data.enabled ? 'on' : 'off'}
          </Mark>
        )
      }
    >
      {error ? (
        <Failed what="The second factor could not be read." error={error} again={reload} />
      ) : !data ? (
        <Loading lines={1} />
      ) : (
        <div class="in stack r8">
          <Recovery codes={recovery} />
          {secret ? (
            <>
              <p>Put this secret into your authenticator app, then type its first code.</p>
              <div class="row">
                <code>{secret}</code>
                <Copy text={secret} label="the secret" />
              </div>
            </>
          ) : (
            data.enabled && <p class="q">{count(data.recoveryCodesLeft, 'recovery code')} left.</p>
          )}
          <div>
            <button type="button" class="b s" onClick={() => open(next)}>
              {OPENS[next]}
            </button>
          </div>
        </div>
      )}
      {step && (
        <Dialog
          title={TITLES[step]}
          act={ACTS[step]}
          onAct={{ begin, confirm, remove }[step]}
          onClose={() => open(undefined)}
        >
          {step !== 'confirm' && (
            <div class="field">
              <label for="totp-password">Your password</label>
              <input
                id="totp-password"
                type="password"
                autoComplete="current-password"
                value={text}
                onInput={event => setText(event.currentTarget.value)}
              />
            </div>
          )}
          {step !== 'begin' && (
            <div class="field" data-field={step === 'remove' ? 'totp' : 'code'}>
              <label for="totp-code">A code of the app</label>
              <input
                id="totp-code"
                name="code"
                type="text"
                inputMode="numeric"
                autoComplete="one-time-code"
                value={code}
                onInput={event => setCode(event.currentTarget.value)}
              />
            </div>
          )}
        </Dialog>
      )}
    </Card>
  )
}

const TITLES = {
  begin: 'Turn the second factor on?',
  confirm: 'What does the app show?',
  remove: 'Turn the second factor off?',
} as const
const OPENS = { begin: 'Turn it on…', confirm: 'Type the code…', remove: 'Turn it off…' } as const
const ACTS = { begin: 'Make a secret', confirm: 'Turn it on', remove: 'Turn it off' } as const

function Recovery({ codes }: { codes: readonly string[] }) {
  if (codes.length === 0) return null
  return (
    <Note tone="wait" icon="key">
      <b>Keep these recovery codes.</b> Each signs in once in the place of a code. They are not shown again.
      <ul class="m">
        {codes.map(code => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Copy text={codes.join('\n')} label="the recovery codes">
        Copy them
      </Copy>
    </Note>
  )
}
